// Accept header parser. Clauses in the order of kube-apiserver: by weight, specific types before wildcards.

export interface AcceptClause {
  readonly type: string
  readonly subtype: string
  readonly weight: number
  readonly parameters: ReadonlyMap<string, string>
}

const maxClauses = 64
const maxParameters = 32

export const acceptParts = (header: string): readonly string[] => header.split(',', maxClauses)

let lastHeader = ''
let lastClauses: readonly AcceptClause[] = []

/** Skips invalid parts. Caches the last header, because a request reads it several times. */
export function parseAccept(header: string): readonly AcceptClause[] {
  if (header === lastHeader) return lastClauses
  const clauses = acceptParts(header).flatMap((part) => parseClause(part) ?? [])
  lastClauses = clauses.length <= maxInsertionSorted ? insertionSort(clauses) : clauses.sort(byWeight)
  lastHeader = header
  return lastClauses
}

function parseClause(part: string): AcceptClause | undefined {
  const [media = '', ...parameterTexts] = part.split(';', maxParameters)
  const segments = media.split('/', 3)
  const type = (segments[0] ?? '').trim()
  const hasSubtype = segments.length > 1 && (segments.length > 2 || segments[1] !== '')
  if (segments.length > 2 || (!hasSubtype && type !== '*')) return undefined
  const subtype = hasSubtype ? (segments[1] ?? '').trim() : '*'
  const parameters = new Map<string, string>()
  let weight = 1
  for (const parameterText of parameterTexts) {
    const [name = '', value, ...extra] = parameterText.split('=', 3)
    if (value === undefined || value === '' || extra.length > 0) continue
    if (name.trim() === 'q') weight = parseWeight(value)
    else parameters.set(name.trim(), value.trim())
  }
  return { type, subtype, weight, parameters }
}

/** Each text matches in one way only, so a mismatch takes linear time. */
const weightPattern = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/

const parseWeight = (text: string): number => (weightPattern.test(text) ? Number(text) : 0)

/** Go's sort uses insertion sort up to this length. */
const maxInsertionSorted = 12

/** Not transitive: a specific type of low weight and a wildcard of high weight precede each other. */
const precedes = (a: AcceptClause, b: AcceptClause): boolean =>
  a.weight > b.weight || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** Reproduces the order of kube-apiserver, which depends on insertion sort. */
function insertionSort(clauses: AcceptClause[]): readonly AcceptClause[] {
  for (let index = 1; index < clauses.length; index++) {
    const clause = clauses[index] as AcceptClause
    let slot = index
    for (; slot > 0 && precedes(clause, clauses[slot - 1] as AcceptClause); slot--) clauses[slot] = clauses[slot - 1] as AcceptClause
    clauses[slot] = clause
  }
  return clauses
}

const wildcardRank = (clause: AcceptClause): number => (clause.type === '*' ? 2 : 0) + (clause.subtype === '*' ? 1 : 0)
const byWeight = (a: AcceptClause, b: AcceptClause): number => b.weight - a.weight || wildcardRank(a) - wildcardRank(b)
