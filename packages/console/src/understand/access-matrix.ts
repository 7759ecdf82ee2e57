// What the user may do in a namespace, by SelfSubjectRulesReview: a matrix of resources and verbs.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { element, replaceChildren } from '../dom/element.js'
import { plainTable } from '../object/overview.js'
import type { Session } from '../session/session.js'
import { errorPanel } from '../shell/legacy.js'
import { review } from './rbac-rules.js'

const columns = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const

interface Matrix {
  readonly session: Session
  readonly namespace: string
  readonly signal: AbortSignal
}

interface ResourceRule {
  readonly verbs?: readonly string[] | null
  readonly apiGroups?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly resourceNames?: readonly string[] | null
}

export function accessMatrix(host: HTMLElement, { session, namespace, signal }: Matrix): void {
  const input = element('input', { type: 'text', id: 'matrix-namespace', value: namespace, spellcheck: 'false' })
  const body = element('div')
  input.addEventListener('change', () => void load())
  replaceChildren(
    host,
    element('h2', {}, 'What you may do in a namespace'),
    element('div', { class: 'tools' }, element('label', { for: 'matrix-namespace' }, 'Namespace'), input),
    body,
  )
  void load()

  async function load(): Promise<void> {
    try {
      const status = await review(session, 'selfsubjectrulesreviews', { spec: { namespace: input.value.trim() } })
      if (signal.aborted) return
      const rules = (status['resourceRules'] ?? []) as readonly ResourceRule[]
      replaceChildren(
        body,
        matrixTable(rules, session),
        status['incomplete'] === true && element('p', { class: 'hint' }, 'The server says that the list is not complete.'),
      )
    } catch (thrown) {
      if (!signal.aborted) replaceChildren(body, errorPanel(thrown, 'The rules cannot be read'))
    }
  }
}

/** One row for each served resource that some rule grants; rules for single names are marked. */
function matrixTable(rules: readonly ResourceRule[], session: Session): HTMLElement {
  const rows = session.resources
    .filter(({ isPreferred }) => isPreferred)
    .sort((a, b) => compareText(`${a.group} ${a.resource}`, `${b.group} ${b.resource}`))
    .flatMap(({ group, resource, verbs }) => {
      const marks = columns.map((verb) => (verbs.includes(verb) ? markOf(rules, { group, resource, verb }) : ' '))
      return marks.every((mark) => mark === '' || mark === ' ') ? [] : [{ name: group === '' ? resource : `${resource}.${group}`, marks }]
    })
  if (rows.length === 0) return element('p', { class: 'empty' }, 'No rule grants anything here.')
  return plainTable(
    ['Resource', ...columns],
    rows.map(({ name, marks }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, name),
        ...marks.map((mark) => element('td', { class: mark === '' ? 'no' : 'yes', title: titles[mark] }, mark === '' ? '–' : mark)),
      ),
    ),
  )
}

const titles: { readonly [mark: string]: string } = {
  '✓': 'granted',
  '(✓)': 'granted for single names',
  '': 'not granted',
  ' ': 'not served',
}

function markOf(
  rules: readonly ResourceRule[],
  { group, resource, verb }: { readonly group: string; readonly resource: string; readonly verb: string },
): string {
  const has = (list: readonly string[] | null | undefined, value: string): boolean =>
    list?.includes('*') === true || list?.includes(value) === true
  const matching = rules.filter((rule) => has(rule.verbs, verb) && has(rule.apiGroups, group) && has(rule.resources, resource))
  if (matching.length === 0) return ''
  return matching.some(({ resourceNames }) => (resourceNames ?? []).length === 0) ? '✓' : '(✓)'
}
