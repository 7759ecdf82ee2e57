// Paths into custom objects, as columns of tables and scales name them: `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`.

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** From some values to others; undefined where a member is asked for that is not there. */
type Step = (values: readonly unknown[]) => readonly unknown[] | undefined

/** The path cannot be read. */
export class JsonPathError extends Error {}

/** All values at the path, in their order; none where there is nothing. Throws {@link JsonPathError}. */
export function compileJsonPath(path: string): (object: unknown) => readonly unknown[] {
  const steps = new PathParser(path).parse()
  return (object) => {
    let values: readonly unknown[] | undefined = [object]
    for (const step of steps) {
      values = step(values)
      if (values === undefined) return []
      if (values.length > mostValues) values = values.slice(0, mostValues)
    }
    return values
  }
}

const selectMember =
  (name: string): Step =>
  (values) => {
    const found = values.flatMap((value) => (isMembers(value) && Object.hasOwn(value, name) ? [value[name]] : []))
    return found.length === 0 ? undefined : found
  }

const selectAll: Step = (values) => values.flatMap((value) => (Array.isArray(value) ? value : isMembers(value) ? Object.values(value) : []))

/** Only the first match is shown: paths that multiply (`..` after `..`) are followed no further than this. */
const mostValues = 10_000

const descend: Step = (values) => {
  const found: unknown[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.length >= mostValues) return
    found.push(value)
    for (const member of Object.values(value)) visit(member)
  }
  values.forEach(visit)
  return found
}

const union =
  (steps: readonly Step[]): Step =>
  (values) =>
    steps.flatMap((step) => step(values) ?? [])

interface Slice {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly by: number
  readonly isOne: boolean
}

const selectSlice =
  ({ from, to, by, isOne }: Slice): Step =>
  (values) => {
    const found: unknown[] = []
    for (const value of values) {
      if (!Array.isArray(value)) return undefined
      const start = from === undefined ? 0 : from < 0 ? from + value.length : from
      const end = isOne ? start + 1 : to === undefined ? value.length : to < 0 ? to + value.length : Math.min(to, value.length)
      if (start < 0 || start >= value.length) {
        if (isOne) return undefined
        continue
      }
      for (let i = start; i < end; i += by) found.push(value[i])
    }
    return found
  }

type Operand = (item: unknown) => readonly unknown[]

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  if (typeof left !== typeof right || (typeof left !== 'number' && typeof left !== 'string')) return false
  const a = left as number
  const b = right as number
  if (operator === '<') return a < b
  if (operator === '>') return a > b
  return operator === '<=' ? a <= b : a >= b
}

const filter =
  (left: Operand, operator: string, right: Operand | undefined): Step =>
  (values) =>
    values.flatMap((value) => {
      const items: readonly unknown[] = Array.isArray(value) ? value : []
      return items.filter((item) => {
        const [first] = left(item)
        if (right === undefined) return left(item).length > 0
        const [second] = right(item)
        return left(item).length > 0 && right(item).length > 0 && compare(first, operator, second)
      })
    })

/** Longer paths and deeper filters than this have no honest use. */
const maxLength = 4096

class PathParser {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    if (text.length > maxLength) throw new JsonPathError('the path is too long')
    this.text = text
  }

  private fail(): never {
    throw new JsonPathError(`cannot read ${JSON.stringify(this.text)} at ${this.at}`)
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  parse(): Step[] {
    const steps = this.steps()
    if (this.at < this.text.length) this.fail()
    return steps
  }

  private steps(): Step[] {
    const steps: Step[] = []
    for (;;) {
      if (this.text.startsWith('..', this.at)) {
        this.at += 2
        steps.push(descend)
        const name = this.name()
        if (name !== undefined) steps.push(name)
      } else if (this.text[this.at] === '.') {
        this.at++
        const name = this.name()
        if (name !== undefined) steps.push(name)
      } else if (this.text[this.at] === '[') {
        steps.push(this.brackets())
      } else {
        return steps
      }
    }
  }

  private name(): Step | undefined {
    const raw = this.take(/(?:\\.|[^.[\]{}()\s,|&=<>!'"@$])+/y)
    if (raw === undefined) return undefined
    const name = raw.replace(/\\(.)/g, '$1')
    return name === '*' ? selectAll : selectMember(name)
  }

  private brackets(): Step {
    this.at++
    if (this.text.startsWith('?(', this.at)) return this.filter()
    if (this.take(/\*\]/y) !== undefined) return selectAll
    const parts: Step[] = []
    do parts.push(this.part())
    while (this.take(/,/y) !== undefined)
    if (this.take(/\]/y) === undefined) this.fail()
    return parts.length === 1 ? (parts[0] as Step) : union(parts)
  }

  private part(): Step {
    const quoted = this.take(/'(?:[^'\\]|\\.)*'/y)
    if (quoted !== undefined) {
      const steps = new PathParser(`.${quoted.slice(1, -1)}`).parse()
      return (values) => steps.reduce<readonly unknown[] | undefined>((found, step) => found && step(found), values)
    }
    const slice = this.take(/-?\d*(?::-?\d*)?(?::\d+)?(?=[\],])/y)
    if (slice === undefined || slice === '') this.fail()
    const [from = '', to, by] = slice.split(':')
    const number = (text: string | undefined): number | undefined => (text === undefined || text === '' ? undefined : Number(text))
    return selectSlice({ from: number(from), to: number(to), by: number(by) ?? 1, isOne: !slice.includes(':') })
  }

  private filter(): Step {
    this.at += 2
    const left = this.operand()
    this.take(/\s+/y)
    const operator = this.take(/==|!=|<=|>=|<|>/y)
    this.take(/\s+/y)
    const right = operator === undefined ? undefined : this.operand()
    this.take(/\s+/y)
    if (this.take(/\)\]/y) === undefined) this.fail()
    return filter(left, operator ?? '', right)
  }

  private operand(): Operand {
    this.take(/\s+/y)
    if (this.take(/@/y) !== undefined) {
      const steps = this.steps()
      return (item) => steps.reduce<readonly unknown[]>((found, step) => step(found) ?? [], [item])
    }
    const text = this.take(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/y)
    const word = text ?? this.take(/-?\d+(?:\.\d+)?|true|false/y)
    if (word === undefined) this.fail()
    const value = text === undefined ? JSON.parse(word) : text.slice(1, -1).replace(/\\(.)/g, '$1')
    return () => [value]
  }
}
