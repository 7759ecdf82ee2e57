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

export interface Play {
  readonly title: string
  readonly steps: readonly Step[]
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
