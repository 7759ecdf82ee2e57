// What the user may do in a namespace, by SelfSubjectRulesReview: a matrix of resources and verbs.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { useState } from 'preact/hooks'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { useLoaded } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { review } from './rbac-rules.js'

const columns = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const

interface ResourceRule {
  readonly verbs?: readonly string[] | null
  readonly apiGroups?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly resourceNames?: readonly string[] | null
}

export function AccessMatrix({ initial }: { readonly initial: string }) {
  const session = useSession()
  const [namespace, setNamespace] = useState(initial)
  const { value: status, error } = useLoaded(() => review(session, 'selfsubjectrulesreviews', { spec: { namespace } }), [namespace])
  return (
    <section>
      <h2>What you may do in a namespace</h2>
      <div class="tools">
        <label for="matrix-namespace">Namespace</label>
        <input
          type="text"
          id="matrix-namespace"
          value={namespace}
          spellcheck={false}
          onChange={({ currentTarget }) => setNamespace(currentTarget.value.trim())}
        />
      </div>
      {error !== undefined && <ErrorPanel error={error} title="The rules cannot be read" />}
      {status && <MatrixTable rules={(status['resourceRules'] ?? []) as readonly ResourceRule[]} />}
      {status?.['incomplete'] === true && <p class="hint">The server says that the list is not complete.</p>}
    </section>
  )
}

/** One row for each served resource that some rule grants; rules for single names are marked. */
function MatrixTable({ rules }: { readonly rules: readonly ResourceRule[] }) {
  const rows = useSession()
    .resources.filter(({ isPreferred }) => isPreferred)
    .sort((a, b) => compareText(`${a.group} ${a.resource}`, `${b.group} ${b.resource}`))
    .map(({ group, resource, verbs }) => ({
      name: group === '' ? resource : `${resource}.${group}`,
      marks: columns.map((verb) => (verbs.includes(verb) ? markOf(rules, { group, resource, verb }) : notServed)),
    }))
    .filter(({ marks }) => marks.some((mark) => mark.isGranted))
  if (rows.length === 0) return <p class="empty">No rule grants anything here.</p>
  return (
    <PlainTable titles={['Resource', ...columns]}>
      {rows.map(({ name, marks }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {marks.map(({ text, title, isGranted }, i) => (
            <td key={columns[i]} class={isGranted ? 'yes' : 'no'} title={title}>
              {text}
            </td>
          ))}
        </tr>
      ))}
    </PlainTable>
  )
}

const notServed = { text: '', title: 'not served', isGranted: false }
const notGranted = { text: '–', title: 'not granted', isGranted: false }
const granted = { text: '✓', title: 'granted', isGranted: true }
const grantedForNames = { text: '(✓)', title: 'granted for single names', isGranted: true }

function markOf(
  rules: readonly ResourceRule[],
  { group, resource, verb }: { readonly group: string; readonly resource: string; readonly verb: string },
): typeof granted {
  const has = (list: readonly string[] | null | undefined, value: string): boolean =>
    list?.includes('*') === true || list?.includes(value) === true
  const matching = rules.filter((rule) => has(rule.verbs, verb) && has(rule.apiGroups, group) && has(rule.resources, resource))
  if (matching.length === 0) return notGranted
  return matching.some(({ resourceNames }) => (resourceNames ?? []).length === 0) ? granted : grantedForNames
}
