// Scenarios as data: steps that each client runs with its own API, and results in one format for comparison.

export interface Ref {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

export type Kind = Omit<Ref, 'name'>

/** Steps that can be impersonated. */
type ReadStep = Extract<Step, { op: 'get' | 'list' }>

type Fields = Readonly<Record<string, unknown>>

export type Step =
  | { readonly op: 'create'; readonly object: Fields; readonly dryRun?: boolean }
  | { readonly op: 'get'; readonly ref: Ref }
  /** Returns names in the order of the response; with a limit, page by page. */
  | { readonly op: 'list'; readonly ref: Kind; readonly selector: string; readonly fieldSelector?: string; readonly limit?: number }
  /** Reads the object, replaces fields and updates it. */
  | { readonly op: 'update'; readonly ref: Ref; readonly fields: Fields }
  /** Reads the object, changes a label, then updates with the stale object. */
  | { readonly op: 'staleUpdate'; readonly ref: Ref; readonly fields: Fields }
  | { readonly op: 'patch'; readonly ref: Ref; readonly type: 'json' | 'merge' | 'strategic'; readonly patch: unknown }
  | { readonly op: 'apply'; readonly object: Fields; readonly manager: string; readonly force: boolean }
  /** Does not wait for the deletion. */
  | { readonly op: 'delete'; readonly ref: Ref }
  | { readonly op: 'deleteSelected'; readonly ref: Kind; readonly selector: string }
  | { readonly op: 'scale'; readonly ref: Ref; readonly replicas: number }
  /** Reads the object and updates its status subresource. */
  | { readonly op: 'updateStatus'; readonly ref: Ref; readonly status: Fields }
  /** Impersonates a user. */
  | { readonly op: 'as'; readonly user: string; readonly ref: Kind; readonly step: ReadStep }
  /** Returns types and names of as many events as there are steps, from a watch that starts before them. */
  | { readonly op: 'watch'; readonly ref: Kind; readonly selector: string; readonly during: readonly Step[] }
  /** Lists, runs `before`, watches from the list until a bookmark, runs `later`, and resumes from the bookmark. */
  | {
      readonly op: 'resume'
      readonly ref: Kind
      readonly selector: string
      readonly before: readonly Step[]
      readonly later: readonly Step[]
    }
  /** Starts a watch at a resourceVersion that may be compacted. */
  | { readonly op: 'watchFrom'; readonly ref: Kind; readonly resourceVersion: string }
  /** Returns the list as a table with all columns. */
  | { readonly op: 'table'; readonly ref: Kind; readonly selector: string }

/** Kubeconfig and server of a scenario. */
export type Setup = 'admin' | 'short history' | 'token of a plugin' | 'certificate of a plugin' | 'refused token of a plugin'

export interface Scenario {
  readonly title: string
  /** Default: `admin`. */
  readonly setup?: Setup
  readonly steps: readonly Step[]
}

/** Watch timeout in seconds; the server sends a bookmark before. */
export const bookmarkSeconds = 3

/** Collection path, for clients without an API for all kinds. */
export function pathOf({ apiVersion, kind }: Kind, namespace: string): string {
  return `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s`
}

export const tableAccept = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** Fields of a Table response. */
interface TableResponse {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

/** Table with column names in upper case and a placeholder for ages. */
export function normalizedTable(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Extract<StepResult, { table: unknown }> {
  const names = columns.map((name) => name.toUpperCase())
  const age = names.indexOf('AGE')
  return { table: [names, ...rows.map((cells) => cells.map((cell, i) => (i === age ? 'age' : String(cell))))] }
}

export const tableOf = (response: unknown): StepResult => {
  const { columnDefinitions, rows } = response as TableResponse
  return normalizedTable(
    columnDefinitions.map(({ name }) => name),
    rows.map(({ cells }) => cells),
  )
}

/** Runs steps in a namespace. Resolves with a result or the reason of a rejection; throws on other errors. */
export interface ScenarioRunner {
  readonly name: string
  perform(step: Step, namespace: string): Promise<StepResult>
  close(): Promise<void>
}

export type StepResult =
  | { readonly object: Fields }
  | { readonly names: readonly string[] }
  | { readonly events: readonly string[] }
  | { readonly table: readonly (readonly string[])[] }
  | { readonly refused: string }
  | { readonly done: true }

const volatile = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'namespace', 'selfLink']

/** The part of a result that must be equal for all clients, as JSON. */
export function comparable(result: StepResult): unknown {
  const value = JSON.parse(JSON.stringify(result)) as { object?: { metadata?: Record<string, unknown>; spec?: Record<string, unknown> } }
  for (const name of volatile) delete value.object?.metadata?.[name]
  // Deletion times differ.
  if (value.object?.metadata?.['deletionTimestamp'] !== undefined) value.object.metadata['deletionTimestamp'] = 'set'
  // Allocated addresses differ.
  for (const name of ['clusterIP', 'clusterIPs']) delete value.object?.spec?.[name]
  return sorted(value)
}

/** Sorts fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]))
}
