// JSON equality independent of member order. An undefined member equals an absent one.

type Members = { readonly [name: string]: unknown }

export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b)
  return isPartOf(a as Members, b as Members) && hasNoMoreThan(b as Members, a as Members)
}

export const sameValueBut = (a: object, b: object, ignored: readonly string[]): boolean =>
  isPartOf(a as Members, b as Members, ignored) && hasNoMoreThan(b as Members, a as Members, ignored)

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!sameValue(a[i], b[i])) return false
  return true
}

const noNames: readonly string[] = []

function isPartOf(a: Members, b: Members, ignored = noNames): boolean {
  for (const name in a) {
    const value = ignored.includes(name) ? undefined : a[name]
    if (value !== undefined && !(Object.hasOwn(b, name) && sameValue(value, b[name]))) return false
  }
  return true
}

function hasNoMoreThan(b: Members, a: Members, ignored = noNames): boolean {
  for (const name in b) {
    const isAbsent = !Object.hasOwn(a, name) || a[name] === undefined
    if (b[name] !== undefined && isAbsent && !ignored.includes(name)) return false
  }
  return true
}
