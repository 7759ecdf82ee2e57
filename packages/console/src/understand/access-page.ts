// Access: whether a user may do something and why, who can, and what the user may in a namespace.

import { button, element, replaceChildren } from '../dom/element.js'
import { plainTable } from '../object/overview.js'
import { errorPanel } from '../shell/legacy.js'
import type { PageContext } from '../shell/page-context.js'
import { objectRoute, routeTo } from '../shell/route.js'
import { accessMatrix } from './access-matrix.js'
import { type AccessQuestion, type BoundObject, findGrants, type Grant, review, subjectName } from './rbac-rules.js'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate', 'bind', 'escalate']
const maxGrants = 500

export function showAccess(host: HTMLElement, { session, route, signal }: PageContext): void {
  const { query } = route
  const value = (name: string): string => query.get(name) ?? ''
  const kinds = session.resources.filter(({ isPreferred }) => isPreferred)
  const names = kinds.flatMap(({ group, resource, subresources }) => [
    fullName(group, resource),
    ...subresources.map((each) => fullName(group, `${resource}/${each.name}`)),
  ])
  const fields = {
    user: textField('User (empty: you)', value('user'), 'system:serviceaccount:shop:robot'),
    groups: textField('Groups', value('groups'), 'system:authenticated'),
    verb: textField('Verb', value('verb') || 'get', 'get', verbs),
    resource: textField('Resource', value('resource') || 'pods', 'deployments.apps', names),
    namespace: textField('Namespace (empty: all)', value('namespace'), 'shop'),
    name: textField('Name (empty: any)', value('name'), 'web'),
  }
  const answer = element('div', { role: 'status' })
  const submit = button('Ask', () => undefined, { class: 'primary' })
  submit.type = 'submit'
  const form = element(
    'form',
    {
      class: 'form',
      on: {
        submit: (event) => {
          event.preventDefault()
          const texts = Object.fromEntries(Object.entries(fields).map(([name, { input }]) => [name, input.value.trim()]))
          history.replaceState(undefined, '', routeTo(['access'], texts))
          void ask()
        },
      },
    },
    ...Object.values(fields).map(({ root }) => root),
    submit,
  )
  const matrix = element('section')
  replaceChildren(
    host,
    element('header', { class: 'page-head' }, element('h1', {}, 'Access')),
    element('p', { class: 'hint' }, 'May a user do it, why or why not, and who can.'),
    form,
    answer,
    matrix,
  )
  accessMatrix(matrix, { session, namespace: value('namespace') || 'default', signal })
  if (query.has('verb')) void ask()

  async function ask(): Promise<void> {
    const { user, groups, verb, resource, namespace, name } = Object.fromEntries(
      Object.entries(fields).map(([each, { input }]) => [each, input.value.trim()]),
    ) as { readonly [Name in keyof typeof fields]: string }
    const [plural = '', ...group] = resource.split('.')
    const [main = '', subresource] = plural.split('/')
    const question: AccessQuestion = { verb, group: group.join('.'), resource: plural, namespace, name }
    const attributes = { verb, group: question.group, resource: main, subresource, namespace, name }
    const spec = {
      resourceAttributes: attributes,
      ...(user === '' ? {} : { user, groups: groups.split(/[\s,]+/).filter((each) => each !== '') }),
    }
    replaceChildren(answer, element('p', { class: 'hint' }, 'asking…'))
    try {
      const status = await review(session, user === '' ? 'selfsubjectaccessreviews' : 'subjectaccessreviews', { spec })
      const { grants, unread } = await findGrants(session, question, signal)
      if (signal.aborted) return
      const isAllowed = status['allowed'] === true
      const reason = String(status['reason'] ?? '')
      replaceChildren(
        answer,
        element(
          'p',
          { class: isAllowed ? 'verdict allowed' : 'verdict denied' },
          element('strong', {}, isAllowed ? 'Allowed' : 'Refused'),
          ` ${user === '' ? 'You' : user} ${isAllowed ? 'may' : 'may not'} ${verb} ${plural}${name === '' ? '' : ` ${name}`}${namespace === '' ? ' in all namespaces' : ` in ${namespace}`}.`,
        ),
        element('p', {}, reason !== '' ? reason : isAllowed ? undefined : whyRefused(grants.length, unread)),
        element('h2', {}, `Who can ${verb} ${plural}`),
        grantTable(grants),
        unread.length > 0 && element('p', { class: 'hint' }, `Not complete: you may not list ${unread.join(', ')}.`),
      )
    } catch (thrown) {
      if (!signal.aborted) replaceChildren(answer, errorPanel(thrown, 'The review was refused'))
    }
  }
}

const whyRefused = (grants: number, unread: readonly string[]): string =>
  unread.length > 0
    ? 'No rule that you may read is known to grant it.'
    : grants === 0
      ? 'No role with a binding grants it to anybody.'
      : 'Roles grant it, but none of their bindings names this user or its groups:'

function grantTable(grants: readonly Grant[]): HTMLElement {
  if (grants.length === 0) return element('p', { class: 'empty' }, 'Nobody, by the roles and bindings that you may read.')
  return plainTable(
    ['Subject', 'Name', 'Binding', 'Role'],
    grants
      .slice(0, maxGrants)
      .map(({ subject, binding, role }) =>
        element(
          'tr',
          {},
          element('td', {}, subject.kind),
          element('td', {}, subjectName(subject)),
          element('td', {}, link(binding)),
          element('td', {}, link(role)),
        ),
      ),
  )
}

const link = ({ resource, namespace, name }: BoundObject): HTMLElement =>
  element('a', { href: objectRoute(resource, namespace, name) }, `${resource.kind} ${name}`)

const fullName = (group: string, resource: string): string => (group === '' ? resource : `${resource}.${group}`)

function textField(
  label: string,
  value: string,
  placeholder: string,
  choices: readonly string[] = [],
): { readonly root: HTMLElement; readonly input: HTMLInputElement } {
  const id = `field-${label.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
  const list =
    choices.length === 0
      ? undefined
      : element('datalist', { id: `${id}-list` }, ...choices.map((each) => element('option', { value: each })))
  const input = element('input', { type: 'text', id, value, placeholder, spellcheck: 'false', autocomplete: 'off', list: list?.id })
  return { root: element('div', { class: 'field' }, element('label', { for: id }, label), input, list), input }
}
