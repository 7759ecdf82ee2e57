// The page of a kind: its table, live, with namespace, selectors, search, sort and columns.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { createRoute, listRoute, objectRoute } from '../shell/route.js'
import { countText } from '../ui/format.js'
import { useFrameRedraw, useLoaded, useTask } from '../ui/hooks.js'
import { type Column, followTable, type TableState } from './live-table.js'
import { type SortOrder, serverOrder } from './row-order.js'
import { TableModel } from './table-model.js'
import { type ShownColumn, VirtualRows } from './virtual-rows.js'

interface TablePageProps {
  readonly resource: ServedResource
  readonly query: URLSearchParams
}

const stateTexts: { readonly [State in TableState]: string } = {
  loading: 'loading',
  live: 'live',
  reconnecting: 'reconnecting',
  failed: 'stopped',
}

/** Interval at which ages are computed again. */
const tickMs = 5000

export function TablePage({ resource, query }: TablePageProps) {
  const session = useSession()
  const namespace = resource.namespaced ? (query.get('namespace') ?? '') : ''
  const selection = { labelSelector: query.get('labels') ?? '', fieldSelector: query.get('fields') ?? '' }
  const [sort, setSort] = useState(() => readSort(query.get('sort') ?? ''))
  const [search, setSearch] = useState(query.get('q') ?? '')
  const [isWide, setIsWide] = useState(query.get('wide') === 'true')
  const redraw = useFrameRedraw()
  const [table] = useState(() => new TableModel(redraw))
  const namespaces = useLoaded(() => (resource.namespaced ? session.namespaces() : Promise.resolve([])), [])
  useTask((signal) => {
    const collection = session.client.collection(resource, namespace)
    return followTable({ collection, requester: session.client.requester, selection }, table, signal)
  }, [])
  useEffect(() => void table.arrange(sort, search), [sort, search])
  useEffect(() => {
    const timer = setInterval(redraw, tickMs)
    return () => {
      clearInterval(timer)
      table.stopReading()
    }
  }, [])
  const hasNamespaceColumn = resource.namespaced && namespace === ''
  const columns = useMemo(() => shownColumns(table.columns, { isWide, hasNamespaceColumn }), [table.columns, isWide])

  const go = (change: { readonly [name: string]: string | undefined }): void => {
    const { labelSelector: labels, fieldSelector: fields } = selection
    const current = { namespace, labels, fields, wide: isWide ? 'true' : '', q: search, sort: sort === serverOrder ? '' : sortText(sort) }
    location.hash = listRoute(resource, { ...current, ...change })
  }
  const sortBy = ({ cell, name }: ShownColumn): void => {
    const by = cell === 'namespace' || name === 'Name' ? 'key' : name === 'Age' ? 'age' : cell
    setSort({ by, isDescending: sort.by === by ? !sort.isDescending : false })
  }
  const sortedName = sort.by === 'key' ? 'Name' : sort.by === 'age' ? 'Age' : (table.columns[sort.by]?.name ?? '')
  const { rows, total, state, waitingCount, isPaused } = table
  const isEmpty = rows.length === 0 && state !== 'loading' && state !== 'failed'
  return (
    <>
      <header class="page-head">
        <h1>
          {resource.kind}
          <small>{resource.group === '' ? resource.version : `${resource.group}/${resource.version}`}</small>
        </h1>
        <div class="status">
          <span class="count" aria-live="polite">
            {rows.length === total
              ? `${countText(total)} ${total === 1 ? 'object' : 'objects'}`
              : `${countText(rows.length)} of ${countText(total)}`}
          </span>
          <span class={`state ${state}`}>{stateTexts[state]}</span>
          {waitingCount > 0 && (
            <button type="button" class="held" onClick={() => table.release()}>
              {countText(waitingCount)} {waitingCount === 1 ? 'change waits' : 'changes wait'}
            </button>
          )}
          <button type="button" aria-pressed={isPaused} onClick={() => table.togglePause()}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </header>
      <div class="tools">
        {resource.namespaced && (
          <NamespaceField namespace={namespace} namespaces={namespaces.value} onChoose={(chosen) => go({ namespace: chosen })} />
        )}
        <input
          type="search"
          id="search"
          placeholder="Search  /"
          aria-label="Search in the table"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <SelectorField
          label="Labels"
          placeholder="app=shop,tier!=web"
          value={selection.labelSelector}
          onChoose={(labels) => go({ labels })}
        />
        <SelectorField
          label="Fields"
          placeholder="metadata.name=web"
          value={selection.fieldSelector}
          onChoose={(fields) => go({ fields })}
        />
        <label class="check">
          <input type="checkbox" checked={isWide} onChange={({ currentTarget }) => setIsWide(currentTarget.checked)} />
          All columns
        </label>
        {resource.verbs.includes('create') && (
          <a class="button" href={createRoute(resource, namespace)}>
            Create
          </a>
        )}
      </div>
      {state === 'failed' && <ErrorPanel error={table.error} title="The list was refused" />}
      {state === 'reconnecting' && <ErrorPanel error={table.error} title="The connection is lost; trying again" />}
      {isEmpty && <p class="empty">{total > 0 ? 'Nothing matches the search.' : emptyText(resource, namespace, selection)}</p>}
      {(state !== 'failed' || total > 0) && (
        <VirtualRows
          label={resource.kind}
          rows={rows}
          columns={columns}
          sort={sort === serverOrder ? undefined : { name: sortedName, isDescending: sort.isDescending }}
          hrefOf={(row) => objectRoute(resource, row.namespace, row.name)}
          onSort={sortBy}
          onReading={table.startReading}
          onRead={table.stopReading}
        />
      )}
    </>
  )
}

/** In addresses: `age`, `-age` for descending, `3` for a column. */
const sortText = ({ by, isDescending }: SortOrder): string => `${isDescending ? '-' : ''}${by}`

function readSort(text: string): SortOrder {
  const [, minus = '', by = ''] = /^(-?)(key|age|\d{1,3})$/.exec(text) ?? []
  return by === '' ? serverOrder : { by: by === 'key' || by === 'age' ? by : Number(by), isDescending: minus !== '' }
}

function emptyText(
  { resource }: ServedResource,
  namespace: string,
  selection: { readonly labelSelector: string; readonly fieldSelector: string },
): string {
  const isSelected = selection.labelSelector !== '' || selection.fieldSelector !== ''
  return `No ${resource}${namespace === '' ? '' : ` in namespace ${namespace}`}${isSelected ? ' match the selectors' : ''}.`
}

const namespaceColumn: ShownColumn = {
  name: 'Namespace',
  type: 'string',
  format: '',
  description: 'Namespace of the object',
  priority: 0,
  cell: 'namespace',
}

const shownColumns = (
  columns: readonly Column[],
  { isWide, hasNamespaceColumn }: { readonly isWide: boolean; readonly hasNamespaceColumn: boolean },
): readonly ShownColumn[] => [
  ...(hasNamespaceColumn ? [namespaceColumn] : []),
  ...columns.map((column, cell) => ({ ...column, cell })).filter(({ priority }) => isWide || priority === 0),
]

interface NamespaceFieldProps {
  readonly namespace: string
  /** Undefined while they are loaded. */
  readonly namespaces: readonly string[] | undefined
  readonly onChoose: (namespace: string) => void
}

/** A user who may not list namespaces types one. */
function NamespaceField({ namespace, namespaces, onChoose }: NamespaceFieldProps) {
  if (namespaces?.length === 0) return <SelectorField label="Namespace" placeholder="all" value={namespace} onChoose={onChoose} />
  const known = namespace === '' || namespaces?.includes(namespace) ? (namespaces ?? []) : [namespace, ...(namespaces ?? [])]
  return (
    <select aria-label="Namespace" value={namespace} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <option value="">All namespaces</option>
      {known.map((name) => (
        <option value={name} key={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

interface SelectorFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChoose: (value: string) => void
}

const SelectorField = ({ label, placeholder, value, onChoose }: SelectorFieldProps) => (
  <input
    type="text"
    spellcheck={false}
    autocomplete="off"
    placeholder={`${label}: ${placeholder}`}
    aria-label={label === 'Namespace' ? label : `${label} selector`}
    defaultValue={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value.trim())}
  />
)
