// Compares a result with the recorded one, whose placeholders stand for variable values.

/** Values of numbered placeholders such as `<uid:1>`, each of which stands for one value within a case. */
type Bindings = Map<string, string>

const numbered = /<(?:id|uid):\d+>/
const placeholder = /<(?:time|rv|ip|latency|suffix|jwt|caBundle|id:\d+|uid:\d+)>/g

/** The first difference with its path; undefined if there is none. */
export function differenceOf(expected: unknown, actual: unknown, bindings: Bindings, path = ''): string | undefined {
  if (typeof expected === 'string') return compareTexts(expected, actual, bindings, path)
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual) ? undefined : difference(expected, actual, path)
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual))
    return difference(expected, actual, path)
  const expectedMembers = expected as Record<string, unknown>
  const actualMembers = actual as Record<string, unknown>
  for (const key of [...new Set([...Object.keys(expectedMembers), ...Object.keys(actualMembers)])].sort()) {
    const below = `${path}.${key}`
    if (!(key in expectedMembers)) return `${below}: not expected: ${show(actualMembers[key])}`
    if (!(key in actualMembers)) return `${below}: missing: ${show(expectedMembers[key])}`
    const difference = differenceOf(expectedMembers[key], actualMembers[key], bindings, below)
    if (difference !== undefined) return difference
  }
  return undefined
}

function compareTexts(expected: string, actual: unknown, bindings: Bindings, path: string): string | undefined {
  if (expected === actual) return undefined
  if (typeof actual !== 'string') return difference(expected, actual, path)
  const names: string[] = []
  const pattern = expected
    .split(placeholder)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.*)')
  for (const [name] of expected.matchAll(placeholder)) names.push(name)
  const match = new RegExp(`^${pattern}$`, 's').exec(actual)
  if (match === null || names.length === 0) return difference(expected, actual, path)
  for (const [i, name] of names.entries()) {
    const value = match[i + 1] ?? ''
    if (value === '') return difference(expected, actual, path)
    if (!numbered.test(name)) continue
    const bound = bindings.get(name)
    if (bound !== undefined && bound !== value) return `${path}: ${name} was ${bound} before, and is ${value}`
    bindings.set(name, value)
  }
  return undefined
}

const difference = (expected: unknown, actual: unknown, path: string): string => `${path}: expected ${show(expected)}, got ${show(actual)}`

const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
