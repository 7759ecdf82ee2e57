// Access: whether a user may do something and why, who can, and what the user may in a namespace.

import { useState } from 'preact/hooks'
import type { Session } from '../session/session.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import type { PageProps } from '../shell/page.js'
import { objectRoute, routeTo } from '../shell/route.js'
import { useLoaded } from '../ui/hooks.js'
import { PlainTable } from '../ui/plain-table.js'
import { TextField } from '../ui/text-field.js'
import { AccessMatrix } from './access-matrix.js'
import {
  type AccessQuestion,
  type AskedUser,
  askedName,
  type BoundObject,
  findGrants,
  type Grant,
  groupsOf,
  isSubjectOf,
  review,
  subjectName,
} from './rbac-rules.js'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'bind', 'escalate']
const maxGrants = 500

const fieldNames = ['user', 'groups', 'verb', 'resource', 'namespace', 'name'] as const

type Texts = { readonly [Name in (typeof fieldNames)[number]]: string }

const readTexts = (read: (name: keyof Texts) => string): Texts =>
  Object.fromEntries(fieldNames.map((name) => [name, read(name)])) as unknown as Texts

export function AccessPage({ route: { query } }: PageProps) {
  const session = useSession()
  const defaults: Partial<Texts> = { verb: 'get', resource: 'pods' }
  const [texts, setTexts] = useState(() => readTexts((name) => query.get(name) || (defaults[name] ?? '')))
  const [asked, setAsked] = useState(query.has('verb') ? texts : undefined)
  const [round, setRound] = useState(0)
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onInput: (value: string) => setTexts({ ...texts, [name]: value }),
  })
  return (
    <>
      <header class="page-head">
        <h1>Access</h1>
      </header>
      <p class="hint">May a user do it, why or why not, and who can. Without groups, a user has those that the server gives it.</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          const trimmed = readTexts((name) => texts[name].trim())
          history.replaceState(undefined, '', routeTo(['access'], trimmed))
          setAsked(trimmed)
          setRound(round + 1)
        }}
      >
        <TextField label="User (empty: you)" placeholder="system:serviceaccount:shop:robot" {...field('user')} />
        <TextField label="Groups" placeholder={groupsOf(texts.user.trim()).join(', ')} {...field('groups')} />
        <TextField label="Verb" placeholder="get" choices={verbs} {...field('verb')} />
        <TextField label="Resource" placeholder="deployments.apps" choices={resourceNames(session)} {...field('resource')} />
        <TextField label="Namespace (empty: all)" placeholder="shop" {...field('namespace')} />
        <TextField label="Name (empty: any)" placeholder="web" {...field('name')} />
        <button type="submit" class="primary">
          Ask
        </button>
      </form>
      <div role="status">{asked && <Answer texts={asked} />}</div>
      <AccessMatrix key={round} asked={asked && askedUser(asked)} initial={asked?.namespace || 'default'} />
    </>
  )
}

const namesIn = (list: string): readonly string[] => list.split(/[\s,]+/).filter((each) => each !== '')

/** Undefined for the user of the session. Without groups, a user has those that the server gives it. */
function askedUser({ user, groups }: Pick<Texts, 'user' | 'groups'>): AskedUser | undefined {
  const typed = namesIn(groups)
  return user === '' && typed.length === 0 ? undefined : { user, groups: typed.length > 0 ? typed : groupsOf(user) }
}

const fullName = (group: string, resource: string): string => (group === '' ? resource : `${resource}.${group}`)

const resourceNames = ({ resources }: Session): readonly string[] =>
  resources
    .filter(({ isPreferred }) => isPreferred)
    .flatMap(({ group, resource, subresources }) => [
      fullName(group, resource),
      ...subresources.map((each) => fullName(group, `${resource}/${each.name}`)),
    ])

function Answer({ texts }: { readonly texts: Texts }) {
  const session = useSession()
  const { value, error } = useLoaded(async (signal) => ({ texts, ...(await ask(session, texts, signal)) }), [texts])
  if (error !== undefined) return <ErrorPanel error={error} title="The review was refused" />
  if (value?.texts !== texts) return <p class="hint">asking…</p>
  const { isAllowed, reason, grants, unread } = value
  const other = askedUser(texts)
  const asked = other ?? { user: session.user, groups: groupsOf(session.user) }
  const isOfAsked = ({ subject }: Grant): boolean => isSubjectOf(asked, subject)
  const { verb, resource, namespace, name } = texts
  const who = askedName(other)
  const [plural = ''] = resource.split('.')
  return (
    <>
      <p class={`verdict ${isAllowed ? 'allowed' : 'denied'}`}>
        <strong>{isAllowed ? 'Allowed' : 'Refused'}</strong>
        {` ${who === 'you' ? 'You' : who} ${isAllowed ? 'may' : 'may not'} ${verb} ${plural}${name === '' ? '' : ` ${name}`}${namespace === '' ? ' in all namespaces' : ` in ${namespace}`}.`}
      </p>
      <p>{reason !== '' ? reason : isAllowed ? undefined : whyRefused(grants.length, unread)}</p>
      <h2>
        Who can {verb} {plural}
      </h2>
      <GrantTable grants={[...grants.filter(isOfAsked), ...grants.filter((grant) => !isOfAsked(grant))]} isOfAsked={isOfAsked} />
      {unread.length > 0 && <p class="hint">Not complete: you may not list {unread.join(', ')}.</p>}
    </>
  )
}

async function ask(session: Session, { user, groups, verb, resource, namespace, name }: Texts, signal: AbortSignal) {
  const [plural = '', ...group] = resource.split('.')
  const [main = '', subresource] = plural.split('/')
  const question: AccessQuestion = { verb, group: group.join('.'), resource: plural, namespace, name }
  const other = askedUser({ user, groups })
  const spec = {
    resourceAttributes: { verb, group: question.group, resource: main, subresource, namespace, name },
    ...other,
  }
  const status = await review(session, other === undefined ? 'selfsubjectaccessreviews' : 'subjectaccessreviews', { spec })
  return { isAllowed: status['allowed'] === true, reason: String(status['reason'] ?? ''), ...(await findGrants(session, question, signal)) }
}

const whyRefused = (grants: number, unread: readonly string[]): string =>
  unread.length > 0
    ? 'No rule that you may read is known to grant it.'
    : grants === 0
      ? 'No role with a binding grants it to anybody.'
      : 'Roles grant it, but none of their bindings names this user or its groups:'

interface GrantTableProps {
  readonly grants: readonly Grant[]
  /** True for grants to the user that was asked about. */
  readonly isOfAsked: (grant: Grant) => boolean
}

function GrantTable({ grants, isOfAsked }: GrantTableProps) {
  if (grants.length === 0) return <p class="empty">Nobody, by the roles and bindings that you may read.</p>
  return (
    <PlainTable titles={['Subject', 'Name', 'Binding', 'Role']}>
      {grants.slice(0, maxGrants).map((grant, i) => (
        <tr key={i} class={isOfAsked(grant) ? 'decides' : ''}>
          <td>{grant.subject.kind}</td>
          <td>{subjectName(grant.subject)}</td>
          <td>
            <BoundLink {...grant.binding} />
          </td>
          <td>
            <BoundLink {...grant.role} />
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}

const BoundLink = ({ resource, namespace, name }: BoundObject) => (
  <a href={objectRoute(resource, namespace, name)}>
    {resource.kind} {name}
  </a>
)
