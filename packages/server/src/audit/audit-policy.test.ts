// Which rule of a policy takes a request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../api/request-info.js'
import type { User } from '../api/user.js'
import type { Policy, PolicyRule } from '../resources/audit/v1.schema.js'
import { compilePolicy } from './policy.js'

const alice: User = { name: 'alice', uid: '', groups: ['dev'], extra: {} }

interface Asked {
  readonly method?: string | undefined
  /** Null: nobody knows who asks. */
  readonly user?: null | undefined
  readonly name?: string | undefined
}

function levelOf(rules: readonly PolicyRule[], url: string, { method = 'GET', user, name }: Asked): string {
  const info = parseRequest(method, url)
  const asks = user === null ? undefined : alice
  return compilePolicy({ rules } as Policy)({ user: asks, verb: info.verb, name: name ?? info.name, info }).level
}

const pods = (resources: readonly string[], resourceNames: readonly string[] = []): PolicyRule =>
  ({ level: 'Metadata', resources: [{ group: '', resources, resourceNames }] }) as PolicyRule

for (const { title, rules, url, method, user, name, level } of [
  { title: 'nothing matches', rules: [], url: '/version', level: 'None' },
  { title: 'a rule without conditions', rules: [{ level: 'Request' }], url: '/version', level: 'Request' },
  { title: 'the first counts', rules: [{ level: 'None' }, { level: 'Request' }], url: '/version', level: 'None' },
  { title: 'a user', rules: [{ level: 'Metadata', users: ['alice'] }], url: '/version', level: 'Metadata' },
  { title: 'another user', rules: [{ level: 'Metadata', users: ['bob'] }], url: '/version', level: 'None' },
  { title: 'a group', rules: [{ level: 'Metadata', userGroups: ['qa', 'dev'] }], url: '/version', level: 'Metadata' },
  { title: 'nobody', rules: [{ level: 'Metadata', userGroups: ['dev'] }], url: '/version', user: null, level: 'None' },
  { title: 'a verb', rules: [{ level: 'Metadata', verbs: ['list'] }], url: '/api/v1/pods', level: 'Metadata' },
  { title: 'a path', rules: [{ level: 'Metadata', nonResourceURLs: ['/healthz*'] }], url: '/healthz/ping', level: 'Metadata' },
  { title: 'all paths', rules: [{ level: 'Metadata', nonResourceURLs: ['*'] }], url: '/healthz', level: 'Metadata' },
  { title: 'a path is no resource', rules: [{ level: 'Metadata', nonResourceURLs: ['*'] }], url: '/api/v1/pods', level: 'None' },
  { title: 'a namespace', rules: [{ level: 'Metadata', namespaces: ['a'] }], url: '/api/v1/namespaces/a/pods', level: 'Metadata' },
  { title: 'no namespace', rules: [{ level: 'Metadata', namespaces: [''] }], url: '/api/v1/nodes', level: 'Metadata' },
  { title: 'a resource', rules: [pods(['pods'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'without its parts', rules: [pods(['pods'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'None' },
  { title: 'a part', rules: [pods(['pods/status'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  { title: 'all parts, and itself', rules: [pods(['pods/*'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'a part of all', rules: [pods(['*/status'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  { title: 'a part of all is no whole', rules: [pods(['*/status'])], url: '/api/v1/namespaces/a/pods/p', level: 'None' },
  { title: 'everything', rules: [pods(['*'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  { title: 'another group', rules: [pods(['*'])], url: '/apis/apps/v1/deployments', level: 'None' },
  {
    title: 'a whole group',
    rules: [{ level: 'Request', resources: [{ group: 'apps' }] }],
    url: '/apis/apps/v1/deployments',
    level: 'Request',
  },
  { title: 'a name', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'another name', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods/q', level: 'None' },
  { title: 'a name that is selected', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods', name: 'p', level: 'Metadata' },
  {
    title: 'a name does not match what has none yet',
    rules: [pods(['pods'], ['p'])],
    url: '/api/v1/namespaces/a/pods',
    method: 'POST',
    level: 'None',
  },
] as readonly { title: string; rules: readonly PolicyRule[]; url: string; method?: string; user?: null; name?: string; level: string }[]) {
  test(title, () => {
    assert.equal(levelOf(rules, url, { method, user, name }), level)
  })
}

test('stages that are left out add up, and managed fields are the rule first', () => {
  const policy = { omitStages: ['RequestReceived'], omitManagedFields: true } as const
  const rule = { level: 'Metadata', omitStages: ['Panic'], omitManagedFields: false }
  const info = parseRequest('GET', '/version')
  const ruling = compilePolicy({ ...policy, rules: [rule] } as unknown as Policy)({ user: alice, verb: 'get', name: '', info })
  assert.deepEqual([[...ruling.omitStages], ruling.omitManagedFields], [['RequestReceived', 'Panic'], false])
  assert.equal(
    compilePolicy({ ...policy, rules: [] } as unknown as Policy)({ user: alice, verb: 'get', name: '', info }).omitManagedFields,
    true,
  )
})
