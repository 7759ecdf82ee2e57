// The Accept header as a list of wishes, best first, in the reference's order: by weight, but what is named goes before wildcards.

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly weight: number
  readonly parameters: ReadonlyMap<string, string>
}

/** A part that is no media type is passed over; so is a parameter without exactly one equals sign. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',').flatMap((part) => parseClause(part) ?? [])
  return clauses.length <= maxExactlyOrdered ? insertionSort(clauses) : clauses.sort(byWeight)
}

function parseClause(part: string): AcceptClause | undefined {
  const [media = '', ...settings] = part.split(';')
  const words = media.split('/')
  const type = (words[0] ?? '').trim()
  const hasSubtype = words.length > 1 && words.slice(1).join('/') !== ''
  if (words.length > 2 || (!hasSubtype && type !== '*')) return undefined
  const subtype = hasSubtype ? (words[1] ?? '').trim() : '*'
  const parameters = new Map<string, string>()
  let weight = 1
  for (const setting of settings) {
    const [name = '', value, ...more] = setting.split('=')
    if (value === undefined || value === '' || more.length > 0) continue
    if (name.trim() === 'q') weight = parseWeight(value)
    else parameters.set(name.trim(), value.trim())
  }
  return { type, subtype, weight, parameters }
}

const parseWeight = (text: string): number => (/^[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?$|^[0-9]+\.$/.test(text) ? Number(text) : 0)

const maxExactlyOrdered = 12

/** Not an order: a named type with a small weight and a wildcard with a large one are each before the other. */
const goesBefore = (a: AcceptClause, b: AcceptClause): boolean =>
  a.weight > b.weight || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** So the way of sorting decides, and it is the reference's for lists as long as clients send. */
function insertionSort(clauses: AcceptClause[]): readonly AcceptClause[] {
  for (let index = 1; index < clauses.length; index++) {
    const clause = clauses[index] as AcceptClause
    let place = index
    for (; place > 0 && goesBefore(clause, clauses[place - 1] as AcceptClause); place--) clauses[place] = clauses[place - 1] as AcceptClause
    clauses[place] = clause
  }
  return clauses
}

const wildness = (clause: AcceptClause): number => (clause.type === '*' ? 2 : 0) + (clause.subtype === '*' ? 1 : 0)
const byWeight = (a: AcceptClause, b: AcceptClause): number => b.weight - a.weight || wildness(a) - wildness(b)
