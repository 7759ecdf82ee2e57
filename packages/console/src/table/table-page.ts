// The page of a kind: its table, live, with namespace, selectors, search, sort and columns.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { button, element, replaceChildren } from '../dom/element.js'
import type { Session } from '../session/session.js'
import { errorPanel } from '../shell/legacy.js'
import { createRoute, listRoute, objectRoute } from '../shell/route.js'
import { countText } from '../ui/format.js'
import { type Column, followTable, type RowChange, type TableState } from './live-table.js'
import { RowOrder, type SortOrder, serverOrder } from './row-order.js'
import { type ShownColumn, VirtualRows } from './virtual-rows.js'

interface TablePage {
  readonly session: Session
  readonly resource: ServedResource
  readonly query: URLSearchParams
  readonly namespaces: readonly string[]
  readonly signal: AbortSignal
}

const stateTexts: { readonly [State in TableState]: string } = {
  loading: 'loading',
  live: 'live',
  reconnecting: 'reconnecting',
  failed: 'stopped',
}

const tickMs = 5000
/** Rows do not move while the user points, types or scrolls in the table, and for this long after. */
const readingMs = 1500
/** More changes of a paused table are shown, to bound its memory. */
const maxWaiting = 50_000

export function showTable(host: HTMLElement, { session, resource, query, namespaces, signal }: TablePage): void {
  const namespace = resource.namespaced ? (query.get('namespace') ?? '') : ''
  const selection = { labelSelector: query.get('labels') ?? '', fieldSelector: query.get('fields') ?? '' }
  const order = new RowOrder()
  let sort: SortOrder = serverOrder
  let columns: readonly Column[] = []
  let showsAllColumns = query.get('wide') === 'true'
  let waiting = new Map<string, RowChange>()
  let isReading = false
  let isPaused = false

  const count = element('span', { class: 'count', 'aria-live': 'polite' })
  const state = element('span', { class: 'state' })
  const held = button('', () => release(), { class: 'held', hidden: true })
  const pause = button('Pause', () => togglePause(), { 'aria-pressed': 'false' })
  const problem = element('div')
  const empty = element('p', { class: 'empty', hidden: true })
  const search = element('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search  /',
    'aria-label': 'Search in the table',
    value: query.get('q') ?? '',
  })
  const view = new VirtualRows({
    label: resource.kind,
    hrefOf: (row) => objectRoute(resource, row.namespace, row.name),
    onSort: (column) => {
      const by = column.cell === 'namespace' || column.name === 'Name' ? 'key' : column.name === 'Age' ? 'age' : column.cell
      sort = { by, isDescending: sort.by === by ? !sort.isDescending : false }
      void arrange()
      drawColumns()
    },
  })

  const refilter = (): void => void arrange()
  search.addEventListener('input', refilter)
  let readingTimer: ReturnType<typeof setTimeout> | undefined
  for (const type of ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const)
    view.root.addEventListener(type, startReading, { passive: true })
  view.root.addEventListener('pointerleave', stopReading)
  const timer = setInterval(() => view.schedule(), tickMs)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    clearTimeout(readingTimer)
  })

  const go = (change: { readonly [name: string]: string | undefined }): void => {
    const current = {
      namespace,
      labels: selection.labelSelector,
      fields: selection.fieldSelector,
      wide: showsAllColumns ? 'true' : '',
      q: search.value,
    }
    location.hash = listRoute(resource, { ...current, ...change })
  }
  replaceChildren(
    host,
    element(
      'header',
      { class: 'page-head' },
      element(
        'h1',
        {},
        resource.kind,
        element('small', {}, resource.group === '' ? resource.version : `${resource.group}/${resource.version}`),
      ),
      element('div', { class: 'status' }, count, state, held, pause),
    ),
    element(
      'div',
      { class: 'tools' },
      resource.namespaced && namespaceSelect(namespace, namespaces, (chosen) => go({ namespace: chosen })),
      search,
      selectorInput('Labels', 'app=shop,tier!=web', selection.labelSelector, (labels) => go({ labels })),
      selectorInput('Fields', 'metadata.name=web', selection.fieldSelector, (fields) => go({ fields })),
      checkbox('All columns', showsAllColumns, (isChecked) => {
        showsAllColumns = isChecked
        drawColumns()
      }),
      resource.verbs.includes('create') && element('a', { class: 'button', href: createRoute(resource, namespace) }, 'Create'),
    ),
    problem,
    empty,
    view.root,
  )

  void followTable(
    { collection: session.client.collection(resource, namespace), requester: session.client.requester, selection },
    {
      onColumns: (found) => {
        columns = found
        order.clear()
        waiting = new Map()
        drawColumns()
        draw()
      },
      onRows: (rows) => {
        order.add(rows)
        draw()
      },
      onChanges: take,
      onState: (next, error) => {
        state.className = `state ${next}`
        state.textContent = stateTexts[next]
        if (next === 'live') draw()
        replaceChildren(
          problem,
          next === 'failed' || next === 'reconnecting'
            ? errorPanel(error, next === 'failed' ? 'The list was refused' : 'The connection is lost; trying again')
            : undefined,
        )
        empty.hidden = next !== 'live' || order.total > 0
        view.root.hidden = next === 'failed' && order.total === 0
      },
    },
    signal,
  )

  /** Changes that move rows wait while the user reads; all changes wait while the table is paused. */
  function take(changes: readonly RowChange[]): void {
    const ready: RowChange[] = []
    for (const change of changes) {
      const key = change.type === 'put' ? change.row.key : change.key
      const moves = change.type === 'delete' || !order.has(key) || waiting.has(key)
      if (isPaused || (isReading && moves && order.rows.length > 0)) waiting.set(key, change)
      else ready.push(change)
    }
    if (ready.length > 0) order.apply(ready)
    if (waiting.size > maxWaiting) release()
    else draw()
  }

  function release(): void {
    const changes = [...waiting.values()]
    waiting = new Map()
    if (changes.length > 0) order.apply(changes)
    draw()
  }

  function startReading(): void {
    isReading = true
    clearTimeout(readingTimer)
    readingTimer = setTimeout(stopReading, readingMs)
  }

  function stopReading(): void {
    clearTimeout(readingTimer)
    isReading = false
    if (!isPaused && waiting.size > 0) release()
  }

  function togglePause(): void {
    isPaused = !isPaused
    pause.setAttribute('aria-pressed', String(isPaused))
    pause.textContent = isPaused ? 'Resume' : 'Pause'
    if (!isPaused) release()
  }

  async function arrange(): Promise<void> {
    if (await order.arrange(sort, search.value)) draw()
  }

  function draw(): void {
    const { rows, total } = order
    count.textContent =
      rows.length === total
        ? `${countText(total)} ${total === 1 ? 'object' : 'objects'}`
        : `${countText(rows.length)} of ${countText(total)}`
    held.hidden = waiting.size === 0
    held.textContent = `${countText(waiting.size)} ${waiting.size === 1 ? 'change waits' : 'changes wait'}`
    empty.hidden = rows.length > 0 || state.textContent === stateTexts.loading || state.textContent === stateTexts.failed
    empty.textContent = total > 0 ? 'Nothing matches the search.' : emptyText()
    view.setRows(rows)
  }

  function emptyText(): string {
    const isSelected = selection.labelSelector !== '' || selection.fieldSelector !== ''
    return `No ${resource.resource}${namespace === '' ? '' : ` in namespace ${namespace}`}${isSelected ? ' match the selectors' : ''}.`
  }

  function drawColumns(): void {
    const shown: ShownColumn[] = columns
      .map((column, cell) => ({ ...column, cell }))
      .filter(({ priority }) => showsAllColumns || priority === 0)
    if (resource.namespaced && namespace === '')
      shown.unshift({
        name: 'Namespace',
        type: 'string',
        format: '',
        description: 'Namespace of the object',
        priority: 0,
        cell: 'namespace',
      })
    const sorted = sort.by === 'key' ? 'Name' : sort.by === 'age' ? 'Age' : (columns[sort.by]?.name ?? '')
    view.setColumns(shown, sort === serverOrder ? undefined : { name: sorted, isDescending: sort.isDescending })
    view.setRows(order.rows)
  }
}

/** A user who may not list namespaces types one. */
function namespaceSelect(namespace: string, namespaces: readonly string[], onChoose: (namespace: string) => void): HTMLElement {
  if (namespaces.length === 0) return selectorInput('Namespace', 'all', namespace, onChoose)
  const known = namespaces.includes(namespace) || namespace === '' ? namespaces : [namespace, ...namespaces]
  const select = element(
    'select',
    { 'aria-label': 'Namespace', on: { change: () => onChoose(select.value) } },
    element('option', { value: '' }, 'All namespaces'),
    ...known.map((name) => element('option', { value: name, selected: name === namespace }, name)),
  )
  return select
}

function selectorInput(label: string, placeholder: string, value: string, onChange: (value: string) => void): HTMLElement {
  const input = element('input', {
    type: 'text',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: `${label}: ${placeholder}`,
    'aria-label': label === 'Namespace' ? label : `${label} selector`,
    value,
  })
  input.addEventListener('change', () => onChange(input.value.trim()))
  return input
}

function checkbox(label: string, isChecked: boolean, onChange: (isChecked: boolean) => void): HTMLElement {
  const input = element('input', { type: 'checkbox', checked: isChecked })
  input.addEventListener('change', () => onChange(input.checked))
  return element('label', { class: 'check' }, input, label)
}
