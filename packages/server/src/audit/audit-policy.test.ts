// Audit policy: which rule matches a request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import type { Policy, PolicyRule } from '@cluster-apiserver/api/resources/audit/v1.schema.js'
import { compilePolicy } from './audit-policy.js'

const alice: User = { name: 'alice', uid: '', groups: ['dev'], extra: {} }

interface RequestOptions {
  readonly method?: string | undefined
  readonly user?: null | undefined
  readonly name?: string | undefined
}

function levelOf(rules: readonly PolicyRule[], url: string, { method = 'GET', user, name }: RequestOptions): string {
  const info = parseRequest(method, url)
  const sender = user === null ? undefined : alice
  return compilePolicy({ rules } as Policy)({ user: sender, verb: info.verb, name: name ?? info.name, info }).level
}

const pods = (resources: readonly string[], resourceNames: readonly string[] = []): PolicyRule =>
  ({ level: 'Metadata', resources: [{ group: '', resources, resourceNames }] }) as PolicyRule

for (const { title, rules, url, method, user, name, level } of [
  { title: 'no matching rule', rules: [], url: '/version', level: 'None' },
  { title: 'a rule without conditions', rules: [{ level: 'Request' }], url: '/version', level: 'Request' },
  { title: 'the first matching rule decides', rules: [{ level: 'None' }, { level: 'Request' }], url: '/version', level: 'None' },
  { title: 'a user', rules: [{ level: 'Metadata', users: ['alice'] }], url: '/version', level: 'Metadata' },
  { title: 'another user', rules: [{ level: 'Metadata', users: ['bob'] }], url: '/version', level: 'None' },
  { title: 'a group', rules: [{ level: 'Metadata', userGroups: ['qa', 'dev'] }], url: '/version', level: 'Metadata' },
  {
    title: 'a group does not match an unauthenticated request',
    rules: [{ level: 'Metadata', userGroups: ['dev'] }],
    url: '/version',
    user: null,
    level: 'None',
  },
  { title: 'a verb', rules: [{ level: 'Metadata', verbs: ['list'] }], url: '/api/v1/pods', level: 'Metadata' },
  { title: 'a path', rules: [{ level: 'Metadata', nonResourceURLs: ['/healthz*'] }], url: '/healthz/ping', level: 'Metadata' },
  { title: 'all paths', rules: [{ level: 'Metadata', nonResourceURLs: ['*'] }], url: '/healthz', level: 'Metadata' },
  {
    title: 'nonResourceURLs do not match resources',
    rules: [{ level: 'Metadata', nonResourceURLs: ['*'] }],
    url: '/api/v1/pods',
    level: 'None',
  },
  { title: 'a namespace', rules: [{ level: 'Metadata', namespaces: ['a'] }], url: '/api/v1/namespaces/a/pods', level: 'Metadata' },
  {
    title: 'the empty namespace matches cluster-scoped resources',
    rules: [{ level: 'Metadata', namespaces: [''] }],
    url: '/api/v1/nodes',
    level: 'Metadata',
  },
  { title: 'a resource', rules: [pods(['pods'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'a resource does not match subresources', rules: [pods(['pods'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'None' },
  { title: 'a subresource', rules: [pods(['pods/status'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  { title: 'all subresources and the resource itself', rules: [pods(['pods/*'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'a subresource of all resources', rules: [pods(['*/status'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  {
    title: 'a subresource of all resources does not match resources',
    rules: [pods(['*/status'])],
    url: '/api/v1/namespaces/a/pods/p',
    level: 'None',
  },
  { title: 'all resources and subresources', rules: [pods(['*'])], url: '/api/v1/namespaces/a/pods/p/status', level: 'Metadata' },
  { title: 'another group', rules: [pods(['*'])], url: '/apis/apps/v1/deployments', level: 'None' },
  {
    title: 'a whole group',
    rules: [{ level: 'Request', resources: [{ group: 'apps' }] }],
    url: '/apis/apps/v1/deployments',
    level: 'Request',
  },
  { title: 'a name', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods/p', level: 'Metadata' },
  { title: 'another name', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods/q', level: 'None' },
  { title: 'a name in a field selector', rules: [pods(['pods'], ['p'])], url: '/api/v1/namespaces/a/pods', name: 'p', level: 'Metadata' },
  {
    title: 'a name does not match an object without a name',
    rules: [pods(['pods'], ['p'])],
    url: '/api/v1/namespaces/a/pods',
    method: 'POST',
    level: 'None',
  },
] as readonly { title: string; rules: readonly PolicyRule[]; url: string; method?: string; user?: null; name?: string; level: string }[]) {
  test(`audit policy: ${title} (level ${level})`, () => {
    assert.equal(levelOf(rules, url, { method, user, name }), level)
  })
}

test('omitStages of policy and rule are joined; omitManagedFields of the rule has precedence', () => {
  const policy = { omitStages: ['RequestReceived'], omitManagedFields: true } as const
  const rule = { level: 'Metadata', omitStages: ['Panic'], omitManagedFields: false }
  const info = parseRequest('GET', '/version')
  const decision = compilePolicy({ ...policy, rules: [rule] } as unknown as Policy)({ user: alice, verb: 'get', name: '', info })
  assert.deepEqual([[...decision.omitStages], decision.omitManagedFields], [['RequestReceived', 'Panic'], false])
  assert.equal(
    compilePolicy({ ...policy, rules: [] } as unknown as Policy)({ user: alice, verb: 'get', name: '', info }).omitManagedFields,
    true,
  )
})
