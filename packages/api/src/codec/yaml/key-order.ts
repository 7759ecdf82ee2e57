// Order of mapping keys in written YAML: letters last, digits by value, so that `a2` precedes `a10`.

const zero = 0x30
const isDigit = (code: number): boolean => code >= zero && code <= 0x39
const isAsciiLetter = (code: number): boolean => (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
const isLetter = (code: number): boolean => isAsciiLetter(code) || (code >= 0x80 && /^\p{L}$/u.test(String.fromCodePoint(code)))

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

export function compareKeys(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  let at = 0
  while (at < shared && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === shared) return a.length - b.length
  if (at > 0 && isLowSurrogate(a.charCodeAt(at)) && isLowSurrogate(b.charCodeAt(at))) at--
  const first = a.codePointAt(at) ?? 0
  const second = b.codePointAt(at) ?? 0
  const isFirstLetter = isLetter(first)
  if (isFirstLetter !== isLetter(second)) return isFirstLetter ? 1 : -1
  if (isFirstLetter) return first - second
  const leadingDigit = (first === zero || second === zero) && followsNonZero(a, at) ? 1 : 0
  const left = numberAt(a, at, leadingDigit)
  const right = numberAt(b, at, leadingDigit)
  return left.value - right.value || left.end - right.end || first - second
}

function followsNonZero(key: string, at: number): boolean {
  for (let before = at - 1; before >= 0 && isDigit(key.charCodeAt(before)); before--) if (key.charCodeAt(before) !== zero) return true
  return false
}

function numberAt(key: string, at: number, leadingDigit: number): { readonly value: number; readonly end: number } {
  let value = leadingDigit
  let end = at
  for (; end < key.length && isDigit(key.charCodeAt(end)); end++) value = value * 10 + key.charCodeAt(end) - zero
  return { value, end }
}
