// Escapes of property names in CEL: `my-name` is `my__dash__name`, keywords such as `if` are `__if__`.

const keywords: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

const escapes: { readonly [text: string]: string } = { '.': '__dot__', '-': '__dash__', '/': '__slash__', __: '__underscores__' }
const unescapes = new Map(Object.entries(escapes).map(([text, escaped]) => [escaped, text]))

/** Returns undefined for names that cannot be escaped, which expressions cannot access. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (keywords.has(name)) return `__${name}__`
  return name.replace(/__|[./-]/g, (text) => escapes[text] as string)
}

export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return keywords.has(escaped) ? undefined : escaped
  const keyword = /^__([a-z]+)__$/.exec(escaped)?.[1]
  if (keyword !== undefined && keywords.has(keyword)) return keyword
  let isValid = true
  const name = escaped.replace(/__(?:(?:dot|dash|slash|underscores)__)?/g, (text) => {
    const unescaped = unescapes.get(text)
    if (unescaped === undefined) isValid = false
    return unescaped ?? text
  })
  return isValid ? name : undefined
}
