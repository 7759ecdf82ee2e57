// The Accept header as a list of wishes, best first, in the reference's order: by weight, but what is named goes before wildcards.

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly weight: number
  readonly parameters: ReadonlyMap<string, string>
}

/** What follows so many clauses is not looked at. */
const maxClauses = 64
/** The same for the parameters of one, its name included. */
const maxSettings = 32

/** The parts between the commas, as many as are looked at. */
export const acceptParts = (header: string): readonly string[] => header.split(',', maxClauses)

let lastHeader = ''
let lastClauses: readonly AcceptClause[] = []

/**
 * A part that is no media type is passed over; so is a parameter without exactly one equals sign. The last answer is kept: one request
 * asks several times, and clients send the same header again and again.
 */
export function parseAccept(header: string): readonly AcceptClause[] {
  if (header === lastHeader) return lastClauses
  const clauses = acceptParts(header).flatMap((part) => parseClause(part) ?? [])
  lastClauses = clauses.length <= maxExactlyOrdered ? insertionSort(clauses) : clauses.sort(byWeight)
  lastHeader = header
  return lastClauses
}

function parseClause(part: string): AcceptClause | undefined {
  const [media = '', ...settings] = part.split(';', maxSettings)
  const words = media.split('/', 3)
  const type = (words[0] ?? '').trim()
  const hasSubtype = words.length > 1 && (words.length > 2 || words[1] !== '')
  if (words.length > 2 || (!hasSubtype && type !== '*')) return undefined
  const subtype = hasSubtype ? (words[1] ?? '').trim() : '*'
  const parameters = new Map<string, string>()
  let weight = 1
  for (const setting of settings) {
    const [name = '', value, ...more] = setting.split('=', 3)
    if (value === undefined || value === '' || more.length > 0) continue
    if (name.trim() === 'q') weight = parseWeight(value)
    else parameters.set(name.trim(), value.trim())
  }
  return { type, subtype, weight, parameters }
}

/** No text matches this in two ways, so that a long one that does not match takes no longer than one that does. */
const weightForm = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

const parseWeight = (text: string): number => (weightForm.test(text) ? Number(text) : 0)

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
