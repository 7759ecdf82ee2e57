// Names of properties as expressions write them: what is no identifier, or a word of the language, is escaped.

const words: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

const escapes: { readonly [text: string]: string } = { '.': '__dot__', '-': '__dash__', '/': '__slash__', __: '__underscores__' }
const unescapes = new Map(Object.entries(escapes).map(([text, escaped]) => [escaped, text]))

/** Undefined where expressions cannot name it at all. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (words.has(name)) return `__${name}__`
  return name.replace(/__|[./-]/g, (text) => escapes[text] as string)
}

/** Undefined for what is no escaped name. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return words.has(escaped) ? undefined : escaped
  const word = /^__([a-z]+)__$/.exec(escaped)?.[1]
  if (word !== undefined && words.has(word)) return word
  let isValid = true
  const name = escaped.replace(/__(?:(?:dot|dash|slash|underscores)__)?/g, (text) => {
    const plain = unescapes.get(text)
    if (plain === undefined) isValid = false
    return plain ?? text
  })
  return isValid ? name : undefined
}
