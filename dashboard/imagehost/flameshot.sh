#!/bin/sh
# Takes a screenshot with Flameshot, uploads it and copies the link.
# It holds a key of yours: make it readable for you alone (chmod 700), and do not share it.
# Needs flameshot and curl; wl-copy, xclip or xsel to copy the link. jq is used where there is one.
set -eu

url=@URL@
key=@KEY@

say() {
    printf '%s\n' "$1" >&2
    if command -v notify-send >/dev/null 2>&1; then
        notify-send 'Screenshot' "$1" || true
    fi
}

fail() {
    say "$1"
    exit 1
}

# The value of a string in the answer, which is one JSON object.
read_answer() {
    if command -v jq >/dev/null 2>&1; then
        jq -er --arg name "$1" '.[$name]' answer.json
    else
        sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' answer.json
    fi
}

copy() {
    if [ -n "${WAYLAND_DISPLAY:-}" ] && command -v wl-copy >/dev/null 2>&1; then
        wl-copy
    elif command -v xclip >/dev/null 2>&1; then
        xclip -selection clipboard
    elif command -v xsel >/dev/null 2>&1; then
        xsel --clipboard --input
    else
        return 1
    fi >/dev/null 2>&1
}

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$directory"

shot="flameshot-$(date +%Y%m%d-%H%M%S).png"
for program in flameshot curl; do
    command -v "$program" >/dev/null 2>&1 || fail "$program is not installed."
done
flameshot gui --raw >"$shot" || true
case "$(head -c 4 "$shot" | tail -c 3)" in
    PNG) ;;
    *) exit 0 ;; # nothing was chosen
esac

status=$(printf 'X-API-Key: %s\n' "$key" |
    curl --silent --show-error --globoff --max-time 300 --header @- --form "file=@$shot;type=image/png" \
        --output answer.json --write-out '%{http_code}' "$url") || fail "The upload failed: no answer from $url."
if [ "$status" != 200 ]; then
    fail "The upload failed ($status): $(read_answer error 2>/dev/null || true)"
fi
link=$(read_answer url) || link=''
if [ -z "$link" ]; then
    fail 'The upload failed: the answer has no link.'
fi

printf '%s\n' "$link"
if printf '%s' "$link" | copy; then
    say "Copied: $link"
else
    say "Uploaded: $link"
fi
