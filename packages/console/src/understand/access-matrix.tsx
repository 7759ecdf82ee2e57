// What a user may do in a namespace, as a matrix of resources and verbs: by SelfSubjectRulesReview, or by the roles of another user.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { useState } from 'preact/hooks'
import type { Session } from '../session/session.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { useLoaded } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { type AskedUser, askedName, findRules, review } from './rbac-rules.js'

const columns = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const

interface ResourceRule {
  readonly verbs?: readonly string[] | null
  readonly apiGroups?: readonly string[] | null
  readonly resources?: readonly string[] | null
  readonly resourceNames?: readonly string[] | null
}

interface Rules {
  readonly rules: readonly ResourceRule[]
  /** Empty if the rules are complete. */
  readonly note: string
}

async function readRules(session: Session, asked: AskedUser | undefined, namespace: string, signal: AbortSignal): Promise<Rules> {
  if (asked === undefined) {
    const status = await review(session, 'selfsubjectrulesreviews', { spec: { namespace } })
    const note = status['incomplete'] === true ? 'The server says that the list is not complete.' : ''
    return { rules: (status['resourceRules'] ?? []) as readonly ResourceRule[], note }
  }
  const { rules, unread } = await findRules(session, asked, namespace, signal)
  return { rules, note: `By roles and bindings${unread.length === 0 ? '.' : `; not complete: you may not list ${unread.join(', ')}.`}` }
}

interface AccessMatrixProps {
  /** Undefined: the user of the session. */
  readonly asked: AskedUser | undefined
  readonly initial: string
}

export function AccessMatrix({ asked, initial }: AccessMatrixProps) {
  const session = useSession()
  const [namespace, setNamespace] = useState(initial)
  const { value, error } = useLoaded((signal) => readRules(session, asked, namespace, signal), [namespace])
  return (
    <section>
      <h2>What {askedName(asked)} may do in a namespace</h2>
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
      {value && <MatrixTable rules={value.rules} />}
      {value && value.note !== '' && <p class="hint">{value.note}</p>}
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
