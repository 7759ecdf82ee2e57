// What all clients are asked to do: steps as data, which each client performs in its own way, and results in one form, so that they can be compared.

export interface Ref {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

export type Kind = Omit<Ref, 'name'>

/** What can be done in the name of others. */
type Simple = Extract<Step, { op: 'get' | 'list' }>

type Fields = Readonly<Record<string, unknown>>

export type Step =
  | { readonly op: 'create'; readonly object: Fields; readonly dryRun?: boolean }
  | { readonly op: 'get'; readonly ref: Ref }
  /** Names, in the order of the answer; with a limit page by page. */
  | { readonly op: 'list'; readonly ref: Kind; readonly selector: string; readonly fieldSelector?: string; readonly limit?: number }
  /** Reads, puts the fields over it, and puts it back. */
  | { readonly op: 'update'; readonly ref: Ref; readonly fields: Fields }
  /** Reads; somebody else changes a label; puts what was read back with the fields over it. */
  | { readonly op: 'staleUpdate'; readonly ref: Ref; readonly fields: Fields }
  | { readonly op: 'patch'; readonly ref: Ref; readonly type: 'json' | 'merge' | 'strategic'; readonly patch: unknown }
  | { readonly op: 'apply'; readonly object: Fields; readonly manager: string; readonly force: boolean }
  /** Not waited for until it is gone. */
  | { readonly op: 'delete'; readonly ref: Ref }
  | { readonly op: 'deleteSelected'; readonly ref: Kind; readonly selector: string }
  | { readonly op: 'scale'; readonly ref: Ref; readonly replicas: number }
  /** Reads, and puts it back at its status with this as status. */
  | { readonly op: 'updateStatus'; readonly ref: Ref; readonly status: Fields }
  /** As somebody else. */
  | { readonly op: 'as'; readonly user: string; readonly ref: Kind; readonly step: Simple }
  /** Types and names of as many events as the steps make, seen by a watch that was there before. */
  | { readonly op: 'watch'; readonly ref: Kind; readonly selector: string; readonly during: readonly Step[] }
  /** Lists, performs the first steps, watches from the list until a bookmark comes, performs the others, and goes on from the bookmark. */
  | {
      readonly op: 'resume'
      readonly ref: Kind
      readonly selector: string
      readonly before: readonly Step[]
      readonly later: readonly Step[]
    }
  /** Begins a watch at a version that may not be kept any more. */
  | { readonly op: 'watchFrom'; readonly ref: Kind; readonly resourceVersion: string }
  /** The list as people read it, with the columns that are usually left out. */
  | { readonly op: 'table'; readonly ref: Kind; readonly selector: string }

/** Through which file of client configuration a play is performed: that of the administrator, or one with a credential plugin; and on which server. */
export type Way = 'admin' | 'short history' | 'token of a plugin' | 'certificate of a plugin' | 'refused token of a plugin'

export interface Play {
  readonly title: string
  /** By default `admin`. */
  readonly way?: Way
  readonly steps: readonly Step[]
}

/** So long that a server sends a bookmark before it ends the watch. */
export const bookmarkSeconds = 3

/** The path of what is listed, for clients that have words for some kinds only. */
export function pathOf({ apiVersion, kind }: Kind, namespace: string): string {
  return `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s`
}

export const tableAccept = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** What servers answer with, as far as it matters here. */
interface TableAnswer {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

/** As people see it; ages are not the same for everybody. */
export function printed(columns: readonly string[], rows: readonly (readonly unknown[])[]): Extract<Performed, { table: unknown }> {
  const names = columns.map((name) => name.toUpperCase())
  const age = names.indexOf('AGE')
  return { table: [names, ...rows.map((cells) => cells.map((cell, i) => (i === age ? 'age' : String(cell))))] }
}

export const tableOf = (answer: unknown): Performed => {
  const { columnDefinitions, rows } = answer as TableAnswer
  return printed(
    columnDefinitions.map(({ name }) => name),
    rows.map(({ cells }) => cells),
  )
}

/** A client that performs steps in a namespace. Answers with an object, names, or the reason of a refusal; throws where it is at a loss. */
export interface Player {
  readonly name: string
  perform(step: Step, namespace: string): Promise<Performed>
  close(): Promise<void>
}

export type Performed =
  | { readonly object: Fields }
  | { readonly names: readonly string[] }
  | { readonly events: readonly string[] }
  | { readonly table: readonly (readonly string[])[] }
  | { readonly refused: string }
  | { readonly done: true }

const volatile = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'namespace', 'selfLink']

/** What must be the same for all clients; JSON, so that dates and classes of a client are as they were on the wire. */
export function comparable(performed: Performed): unknown {
  const value = JSON.parse(JSON.stringify(performed)) as { object?: { metadata?: Record<string, unknown>; spec?: Record<string, unknown> } }
  for (const name of volatile) delete value.object?.metadata?.[name]
  // That it is going is the same, since when is not.
  if (value.object?.metadata?.['deletionTimestamp'] !== undefined) value.object.metadata['deletionTimestamp'] = 'set'
  // Addresses are drawn.
  for (const name of ['clusterIP', 'clusterIPs']) delete value.object?.spec?.[name]
  return sorted(value)
}

/** Members in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]))
}
