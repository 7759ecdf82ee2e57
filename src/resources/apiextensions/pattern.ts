// Regular expressions of schemas, which are written in the dialect of RE2, as functions over texts.
// Everything that matches them goes through here, so that an engine with linear time can take the place of the platform's.

export type Matcher = (text: string) => boolean

const compiled = new Map<string, Matcher | undefined>()
const cacheLimit = 1000

/** Undefined where the pattern is none. */
export function compilePattern(pattern: string): Matcher | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern)
  if (compiled.size >= cacheLimit) compiled.clear()
  const matcher = compile(pattern)
  compiled.set(pattern, matcher)
  return matcher
}

/** What RE2 does not know: looking around, and referring back. */
const unsupported = /(?<!\\)(?:\\\\)*(?:\(\?<?[=!]|\\[1-9]|\\k<|\(\?>)/

const posixClasses: { readonly [name: string]: string } = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

function compile(pattern: string): Matcher | undefined {
  if (unsupported.test(pattern)) return undefined
  const flags = /^\(\?([ims]+)\)/.exec(pattern)
  const body = pattern
    .slice(flags?.[0].length ?? 0)
    .replace(/\(\?P</g, '(?<')
    .replace(/\[:(\w+):\]/g, (whole, name: string) => posixClasses[name] ?? whole)
    .replace(/\\([pP])([A-Z])/g, '\\$1{$2}')
    .replace(/\\(.)/g, (whole, letter: string) => (letter === 'A' ? '^' : letter === 'z' ? '$' : whole))
  try {
    // Classes of Unicode need their own mode, in which fewer escapes are allowed than RE2 allows.
    const mode = /\\p\{/i.test(body) ? 'u' : ''
    const expression = new RegExp(body, `${flags?.[1] ?? ''}${mode}`)
    return (text) => expression.test(text)
  } catch {
    return undefined
  }
}
