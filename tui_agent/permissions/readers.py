"""The programs that only read, and the exact options that keep them so. Notation: see `options`.

Left out on purpose: whatever writes, runs another program, shows the environment, never ends, or follows
links out of the folder. A program that is missing here asks.
"""

from __future__ import annotations

from tui_agent.permissions.options import OptionList, option_list
from tui_agent.permissions.words import names

_CHECKSUM = "-btz --binary --text --tag --zero"

READERS: dict[str, str] = {
    "pwd": "-LP @none",
    "true": "@text",
    "false": "@text",
    "whoami": "@none",
    "id": "-ugGnrz --user --group --groups --name --real --zero @text",
    "uname": "-asnrvmpio --all --kernel-name --nodename --kernel-release --machine @none",
    "echo": "-neE @text",
    "ls": """
        -aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I:T -w:N -T:N --all --almost-all --author --escape
        --ignore-backups --color?W --directory --classify?W --file-type --format:W --full-time
        --group-directories-first --no-group --human-readable --si --dereference-command-line --hide:T
        --indicator-style:W --inode --ignore:T --kibibytes --dereference --numeric-uid-gid --literal
        --hide-control-chars --show-control-chars --quote-name --quoting-style:W --reverse --recursive --size
        --sort:W --time:W --time-style:T --tabsize:N --width:N --zero
    """,
    "cat": """
        -AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs
        --show-nonprinting
    """,
    "head": "digits -qvz -n:N -c:N --lines:N --bytes:N --quiet --silent --verbose --zero-terminated",
    "tail": "digits -qvz -n:N -c:N --lines:N --bytes:N --quiet --silent --verbose --zero-terminated",
    "wc": "-clLmw --bytes --chars --lines --max-line-length --words --total:W",
    "nl": "-p -b:T -d:T -f:T -h:T -i:N -l:N -n:W -s:T -v:N -w:N --body-numbering:T --number-width:N",
    "tac": "-br -s:T --before --regex --separator:T",
    "rev": "",
    "cut": """
        -nsz -b:T -c:T -d:T -f:T --bytes:T --characters:T --delimiter:T --fields:T --complement
        --only-delimited --output-delimiter:T --zero-terminated
    """,
    "tr": "-cCdst --complement --delete --squeeze-repeats --truncate-set1 @text",
    "uniq": """
        -cdDiuz -f:N -s:N -w:N --count --repeated --all-repeated?W --skip-fields:N --group?W --ignore-case
        --skip-chars:N --unique --zero-terminated --check-chars:N @one
    """,
    "comm": "-123z --check-order --nocheck-order --output-delimiter:T --total --zero-terminated",
    "paste": "-sz -d:T --delimiters:T --serial --zero-terminated",
    "fold": "-bs -w:N --bytes --spaces --width:N",
    "sort": """
        -bdfgiMhnRrVcCmsuz -k:T -t:T --ignore-leading-blanks --dictionary-order --ignore-case
        --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --reverse
        --version-sort --sort:W --check?W --key:T --field-separator:T --merge --stable --unique
        --zero-terminated --debug
    """,
    "stat": "-Lft -c:T --dereference --file-system --terse --format:T --printf:T",
    "file": """
        -bikLhNnrE0 --brief --mime --mime-type --mime-encoding --extension --keep-going --dereference
        --no-dereference --no-pad --print0 --raw -F:T --separator:T
    """,
    "readlink": "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    "realpath": """
        -emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --no-symlinks
        --zero --relative-to:P --relative-base:P
    """,
    "du": """
        -abchklmsSxP0 -d:N -t:T -B:T --all --apparent-size --bytes --total --human-readable --max-depth:N
        --summarize --separate-dirs --one-file-system --threshold:T --block-size:T --exclude:T --si --inodes
        --null --time?W
    """,
    "df": """
        -ahHiklTP -t:T -x:T -B:T --all --human-readable --si --inodes --local --portability --type:T
        --exclude-type:T --print-type --total --output?T --block-size:T --no-sync
    """,
    **{f"{name}sum": _CHECKSUM for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")},
    "b2sum": f"{_CHECKSUM} -l:N --length:N",
    "sum": "-rs --sysv",
    "cksum": "-z -a:W --algorithm:W --tag --untagged --zero --base64",
    "od": """
        -abcdfilosxv -A:W -j:T -N:T -S:N -t:T -w?N --address-radix:W --skip-bytes:T --read-bytes:T --strings?N
        --format:T --output-duplicates --width?N --endian:W
    """,
    "strings": "digits -afw -n:N -t:W -e:W --all --print-file-name --bytes:N --radix:W --encoding:W @strings",
    "diff": """
        -qsabBiwcdeEfnptTuyZ -C:N -U:N -W:N -I:T -F:T --brief --report-identical-files --text
        --ignore-space-change --ignore-blank-lines --ignore-case --ignore-all-space --ignore-tab-expansion
        --ignore-trailing-space --ignore-matching-lines:T --context?N --unified?N --minimal --side-by-side
        --width:N --left-column --suppress-common-lines --show-c-function --show-function-line:T --label:T
        --expand-tabs --initial-tab --strip-trailing-cr --normal --color?W --tabsize:N --speed-large-files
        @files
    """,
    "cmp": "-bls -i:T -n:T --print-bytes --verbose --quiet --silent --ignore-initial:T --bytes:T",
    "grep": """
        digits -EFGPiyvwxclLnqshHobTZzrIaU -e:T -f:P -m:N -A:N -B:N -C:N --extended-regexp --fixed-strings
        --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp
        --count --files-with-matches --files-without-match --line-number --quiet --silent --no-messages
        --with-filename --no-filename --only-matching --byte-offset --initial-tab --null --null-data --text
        --binary --regexp:T --file:P --max-count:N --after-context:N --before-context:N --context:N --color?W
        --colour?W --recursive --include:T --exclude:T --exclude-dir:T --binary-files:W --label:T
        --line-buffered @search
    """,
    "rg": """
        -FPiSsvwxclnNqHIoUpb0a -E:W -e:T -f:P -g:T -t:T -T:T -m:N -A:N -B:N -C:N -d:N -M:N -j:N -r:T
        --regexp:T --file:P --glob:T --iglob:T --type:T --type-not:T --max-count:N --after-context:N
        --before-context:N --context:N --max-depth:N --max-columns:N --max-columns-preview --threads:N
        --replace:T --fixed-strings --pcre2 --ignore-case --smart-case --case-sensitive --invert-match
        --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match
        --line-number --no-line-number --quiet --with-filename --no-filename --only-matching --multiline
        --multiline-dotall --pretty --byte-offset --null --column --no-column --heading --no-heading --color:W
        --colors:T --no-config --json --stats --sort:W --sortr:W --trim --vimgrep --passthru --files
        --type-list --max-filesize:T --text --no-messages --no-mmap --context-separator:T
        --glob-case-insensitive --one-file-system --crlf --no-unicode --include-zero @search
    """,
    "seq": "-w -f:T -s:T --equal-width --format:T --separator:T @numbers",
    "date": """
        -uR -I?W -d:T -r:P --utc --universal --date:T --reference:P --iso-8601?W --rfc-email --rfc-3339:W
        @format
    """,
    "which": "-as --all @names",
    "type": "-aftpP @names",
    "column": "-texn -s:T -o:T -c:N -N:T -H:T -R:T -T:T -W:T -l:N --table --separator:T --output-separator:T",
    "jq": """
        -rcnesSCMaj --raw-output --compact-output --null-input --exit-status --slurp --sort-keys
        --color-output --monochrome-output --ascii-output --join-output --tab --raw-input -R @jq
    """,
    "tree": """
        separate -adfpshDFCnirtugQNqvUcASJ -L:N -I:T -P:T --dirsfirst --noreport --prune --filelimit:N --du
        --si --gitignore --ignore-case --matchdirs --inodes --device --charset:W --sort?W --timefmt:T
    """,
    "sed": "-nsz --quiet --silent --separate --null-data @sed",
}

BUILTINS = names("pwd true false echo type cd")
"""Run by the shell itself, wherever a program of that name may lie."""


def reader(name: str) -> OptionList | None:
    line = READERS.get(name)
    return None if line is None else option_list(line)
