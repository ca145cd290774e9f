"""The agent library: messages, tools, the loop and its cancellation.

It knows no terminal, no provider and no file. The host passes a model, tools and a gate.
"""

from tui_agent.agent.agent import Agent
from tui_agent.agent.arguments import validate_tool_arguments
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import Cancelled, ModelError, StaleProposal, ToolError
from tui_agent.agent.events import (
    AgentEvent,
    ApprovalDecided,
    ApprovalRequested,
    AssistantMessageDone,
    Compacted,
    Compacting,
    FileChanged,
    HistoryRewritten,
    NoteAdded,
    SessionStarted,
    StepLimitReached,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    ToolProgress,
    TurnEnded,
    TurnStarted,
    UsageUpdated,
)
from tui_agent.agent.execution import execute_tool_calls
from tui_agent.agent.gate import Allow, Deny, Gate
from tui_agent.agent.history import History
from tui_agent.agent.loop import run_agent_loop
from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    RawBlock,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from tui_agent.agent.model import (
    MessageDone,
    Model,
    ModelEvent,
    ModelRequest,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from tui_agent.agent.tool import (
    AgentTool,
    Pending,
    Proposal,
    Tool,
    ToolOutput,
    approved_by,
    current_call_id,
    earlier_proposals,
)

__all__ = [
    "Agent",
    "AgentEvent",
    "AgentTool",
    "Allow",
    "ApprovalDecided",
    "ApprovalRequested",
    "AssistantMessage",
    "AssistantMessageDone",
    "CancelSignal",
    "Cancelled",
    "Compacted",
    "Compacting",
    "Deny",
    "FileChanged",
    "Gate",
    "History",
    "HistoryRewritten",
    "ImageContent",
    "MessageDone",
    "Model",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "NoteAdded",
    "Pending",
    "Proposal",
    "RawBlock",
    "Retrying",
    "SessionStarted",
    "StaleProposal",
    "StepLimitReached",
    "TextContent",
    "TextDelta",
    "ThinkingContent",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallFinished",
    "ToolCallProgress",
    "ToolCallStarted",
    "ToolError",
    "ToolOutput",
    "ToolProgress",
    "ToolResultMessage",
    "TurnEnded",
    "TurnStarted",
    "Usage",
    "UsageUpdated",
    "UserMessage",
    "approved_by",
    "current_call_id",
    "earlier_proposals",
    "execute_tool_calls",
    "run_agent_loop",
    "validate_tool_arguments",
]
