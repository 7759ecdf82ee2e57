// What differs between what the reference gave and what came, where the first has placeholders for what is different every time.

/** Each placeholder of an identity stands for one value, whichever, throughout a case. */
export type Bindings = Map<string, string>

const numbered = /<(?:id|uid):\d+>/
const placeholder = /<(?:time|rv|ip|latency|suffix|jwt|caBundle|id:\d+|uid:\d+)>/g

/** The first difference, with the path to it; undefined where there is none. */
export function differenceOf(expected: unknown, actual: unknown, bindings: Bindings, path = ''): string | undefined {
  if (typeof expected === 'string') return compareTexts(expected, actual, bindings, path)
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual) ? undefined : told(expected, actual, path)
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual))
    return told(expected, actual, path)
  const wanted = expected as Record<string, unknown>
  const got = actual as Record<string, unknown>
  for (const key of [...new Set([...Object.keys(wanted), ...Object.keys(got)])].sort()) {
    const below = `${path}.${key}`
    if (!(key in wanted)) return `${below}: not expected: ${show(got[key])}`
    if (!(key in got)) return `${below}: missing: ${show(wanted[key])}`
    const difference = differenceOf(wanted[key], got[key], bindings, below)
    if (difference !== undefined) return difference
  }
  return undefined
}

function compareTexts(expected: string, actual: unknown, bindings: Bindings, path: string): string | undefined {
  if (expected === actual) return undefined
  if (typeof actual !== 'string') return told(expected, actual, path)
  const names: string[] = []
  const pattern = expected
    .split(placeholder)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('(.*)')
  for (const [name] of expected.matchAll(placeholder)) names.push(name)
  const match = new RegExp(`^${pattern}$`, 's').exec(actual)
  if (match === null || names.length === 0) return told(expected, actual, path)
  for (const [i, name] of names.entries()) {
    const value = match[i + 1] ?? ''
    if (value === '') return told(expected, actual, path)
    if (!numbered.test(name)) continue
    const bound = bindings.get(name)
    if (bound !== undefined && bound !== value) return `${path}: ${name} was ${bound} before, and is ${value}`
    bindings.set(name, value)
  }
  return undefined
}

const told = (expected: unknown, actual: unknown, path: string): string => `${path}: expected ${show(expected)}, got ${show(actual)}`

const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
