// A table of one kind, kept up to date: pages of the server's Table representation, then its watch. Reconnects, and lists again after 410.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import {
  type Collection,
  isExpired,
  isForbidden,
  isNotFound,
  isUnauthorized,
  isVersionTooLarge,
  type Table,
} from '@cluster-apiserver/client/browser.js'
import { tableAccept } from '@cluster-apiserver/client/requests/media-types.js'
import type { Requester } from '@cluster-apiserver/client/requests/requester.js'
import { openWatch } from '@cluster-apiserver/client/watch/watch-stream.js'

export interface Row {
  readonly key: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly cells: readonly unknown[]
  readonly createdMs: number
  readonly isTerminating: boolean
  /** When a watch event last changed the row; undefined if none has. */
  readonly changedMs: number | undefined
}

export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

export interface Selection {
  readonly labelSelector: string
  readonly fieldSelector: string
}

export type RowChange = { readonly type: 'put'; readonly row: Row } | { readonly type: 'delete'; readonly key: string }

export type TableState = 'loading' | 'live' | 'reconnecting' | 'failed'

export interface TableListener {
  /** Starts an empty table. */
  onColumns(columns: readonly Column[]): void
  onRows(rows: readonly Row[]): void
  onChanges(changes: readonly RowChange[]): void
  onState(state: TableState, error?: unknown): void
}

interface Source {
  readonly collection: Collection
  readonly requester: Requester
  readonly selection: Selection
}

const pageSize = 500
const watchSeconds = 240
const maxBackOffMs = 10_000

/** Runs until the signal is aborted or the server refuses the list. */
export async function followTable(
  { collection, requester, selection }: Source,
  listener: TableListener,
  signal: AbortSignal,
): Promise<void> {
  let version: string | undefined
  let backOffMs = 250
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        listener.onState('loading')
        version = await listPages(collection, selection, { listener, signal })
      }
      const path = await collection.path()
      const request = { path, accept: tableAccept, query: { ...queryOf(selection), includeObject: 'Metadata' }, signal }
      const batches = await openWatch<Table>(requester, request, { resourceVersion: version, timeoutSeconds: watchSeconds, signal })
      listener.onState('live')
      for await (const events of batches) {
        backOffMs = 250
        const changes: RowChange[] = []
        for (const { type, object } of events) {
          const table = object as Table
          version = table.metadata?.resourceVersion || version
          if (type === 'BOOKMARK') continue
          for (const row of rowsOf(table, Date.now()))
            changes.push(type === 'DELETED' ? { type: 'delete', key: row.key } : { type: 'put', row })
        }
        if (changes.length > 0) listener.onChanges(changes)
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (isExpired(thrown) || isVersionTooLarge(thrown)) version = undefined
      else if (isForbidden(thrown) || isNotFound(thrown) || isUnauthorized(thrown) || isRefused(thrown)) {
        listener.onState('failed', thrown)
        return
      } else listener.onState('reconnecting', thrown)
      await new Promise((resolve) => setTimeout(resolve, timerMs(backOffMs)))
      backOffMs = Math.min(backOffMs * 2, maxBackOffMs)
    }
  }
}

const isRefused = (thrown: unknown): boolean => {
  const code = (thrown as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'number' && code >= 400 && code < 500 && code !== 408 && code !== 429
}

const queryOf = ({ labelSelector, fieldSelector }: Selection) => ({
  labelSelector: labelSelector || undefined,
  fieldSelector: fieldSelector || undefined,
})

async function listPages(
  collection: Collection,
  { labelSelector, fieldSelector }: Selection,
  { listener, signal }: { readonly listener: TableListener; readonly signal: AbortSignal },
): Promise<string> {
  const options = {
    limit: pageSize,
    include: 'Metadata' as const,
    signal,
    ...(labelSelector === '' ? {} : { labelSelector }),
    ...(fieldSelector === '' ? {} : { fieldSelector }),
  }
  let page = await collection.table(options)
  listener.onColumns(columnsOf(page))
  for (;;) {
    listener.onRows(rowsOf(page, undefined))
    const next = page.metadata?.continue ?? ''
    if (next === '') return page.metadata?.resourceVersion ?? ''
    page = await collection.table({ ...options, continue: next })
  }
}

const columnsOf = ({ columnDefinitions }: Table): readonly Column[] =>
  (columnDefinitions ?? []).map(({ name, type, format, description, priority }) => ({
    name: name ?? '',
    type: type ?? 'string',
    format: format ?? '',
    description: description ?? '',
    priority: priority ?? 0,
  }))

interface RowMetadata {
  readonly name?: string
  readonly namespace?: string
  readonly uid?: string
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string | null
}

/** Keeps what the table shows: the metadata of 50,000 objects would take hundreds of megabytes. */
const rowsOf = ({ rows }: Table, changedMs: number | undefined): readonly Row[] =>
  (rows ?? []).map(({ cells, object }) => {
    const {
      name = '',
      namespace = '',
      uid = '',
      creationTimestamp,
      deletionTimestamp,
    } = (object as { readonly metadata?: RowMetadata })?.metadata ?? {}
    return {
      key: namespace === '' ? name : `${namespace}/${name}`,
      name,
      namespace,
      uid,
      cells: (cells ?? []) as readonly unknown[],
      createdMs: Date.parse(creationTimestamp ?? ''),
      isTerminating: (deletionTimestamp ?? '') !== '',
      changedMs,
    }
  })
