// What a file of policies allows, and what is said of one that is wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../api/identity.js'
import { parseRequest } from '../../api/request-info.js'
import { anonymous, type User } from '../../api/user.js'
import { abacAuthorizer } from './abac-authorizer.js'
import { parsePolicies } from './policies.js'

const identity = identityOf('cluster')
const authorizerOf = (...lines: readonly (object | string)[]) =>
  abacAuthorizer(parsePolicies(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'), identity))
const policy = (spec: object) => ({ apiVersion: 'abac.authorization.cluster.io/v1beta1', kind: 'Policy', spec })
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const ann = user('ann', 'devs', 'system:authenticated')

const rows: readonly { readonly line: object; readonly who?: User; readonly request: string; readonly allowed: boolean }[] = [
  { line: policy({ user: 'ann', namespace: '*', resource: 'pods', readonly: true }), request: 'GET /api/v1/pods', allowed: true },
  {
    line: policy({ user: 'ann', namespace: '*', resource: 'pods', readonly: true }),
    request: 'GET /api/v1/namespaces/n/pods/p/log',
    allowed: true,
  },
  {
    line: policy({ user: 'ann', namespace: '*', resource: 'pods', readonly: true }),
    request: 'DELETE /api/v1/namespaces/n/pods/p',
    allowed: false,
  },
  { line: policy({ user: 'ann', namespace: '*', resource: 'pods' }), request: 'DELETE /api/v1/namespaces/n/pods/p', allowed: true },
  { line: policy({ user: 'ann', namespace: '*', resource: 'pods' }), request: 'GET /apis/apps/v1/namespaces/n/pods/p', allowed: false },
  {
    line: policy({ user: 'ann', namespace: 'n', apiGroup: '*', resource: '*' }),
    request: 'GET /apis/apps/v1/namespaces/n/pods/p',
    allowed: true,
  },
  {
    line: policy({ user: 'ann', namespace: 'n', apiGroup: '*', resource: '*' }),
    request: 'GET /apis/apps/v1/namespaces/m/pods/p',
    allowed: false,
  },
  { line: policy({ user: 'ann', resource: 'pods' }), request: 'GET /api/v1/namespaces/n/pods', allowed: false },
  { line: policy({ user: 'ann', resource: 'pods' }), request: 'GET /api/v1/pods', allowed: true },
  { line: policy({ group: 'devs', nonResourcePath: '/logs/*' }), request: 'POST /logs/x', allowed: true },
  { line: policy({ group: 'devs', nonResourcePath: '/logs/*' }), request: 'GET /logs', allowed: false },
  { line: policy({ group: 'devs', nonResourcePath: '*' }), request: 'GET /api/v1/pods', allowed: false },
  { line: policy({ user: 'ann', namespace: '*', apiGroup: '*', resource: '*' }), request: 'GET /logs', allowed: false },
  { line: policy({ user: 'ann', group: 'ops', nonResourcePath: '*' }), request: 'GET /x', allowed: false },
  { line: policy({ user: 'bob', group: 'devs', nonResourcePath: '*' }), request: 'GET /x', allowed: false },
  { line: policy({ user: 'ann', group: 'devs', nonResourcePath: '*' }), request: 'GET /x', allowed: true },
  { line: policy({ nonResourcePath: '*' }), request: 'GET /x', allowed: false },
  { line: policy({ user: '*', nonResourcePath: '*' }), request: 'GET /x', allowed: true },
  { line: policy({ user: '*', nonResourcePath: '*' }), who: anonymous, request: 'GET /x', allowed: false },
  { line: policy({ group: '*', nonResourcePath: '*' }), who: anonymous, request: 'GET /x', allowed: false },
  { line: policy({ group: 'system:unauthenticated', nonResourcePath: '*' }), who: anonymous, request: 'GET /x', allowed: true },
  { line: { user: 'ann', readonly: true }, request: 'GET /apis/apps/v1/namespaces/n/deployments', allowed: true },
  { line: { user: 'ann', readonly: true }, request: 'GET /x', allowed: true },
  { line: { user: 'ann', resource: 'pods' }, request: 'GET /x', allowed: false },
  { line: { resource: 'pods' }, request: 'GET /api/v1/pods', allowed: true },
  { line: { resource: 'pods' }, who: anonymous, request: 'GET /api/v1/pods', allowed: false },
]

for (const { line, who = ann, request, allowed } of rows) {
  test(`${JSON.stringify(line)} for ${who.name}: ${request}`, () => {
    const [method = '', path = ''] = request.split(' ')
    const decision = authorizerOf(line).authorize({ user: who, info: parseRequest(method, path) })
    assert.deepEqual(decision, allowed ? { verdict: 'allow', reason: '' } : { verdict: 'no-opinion', reason: 'No policy matched.' })
  })
}

test('rules are those of the policies of a user in a namespace', () => {
  const authorizer = authorizerOf(
    policy({ user: 'ann', namespace: 'n', resource: 'pods', readonly: true }),
    policy({ user: 'ann', namespace: 'm', resource: 'secrets' }),
    policy({ group: 'devs', namespace: '*', apiGroup: 'apps', resource: '*', nonResourcePath: '/x' }),
  )
  assert.deepEqual(authorizer.rulesFor?.(ann, 'n'), {
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x'] }],
  })
})

const broken: readonly { readonly line: string; readonly says: RegExp }[] = [
  { line: '{"user":', says: /line 3: / },
  { line: '[]', says: /line 3: a policy must be an object/ },
  { line: '{"user":5}', says: /line 3: its field "user" is no text/ },
  { line: '{"readonly":"yes"}', says: /line 3: its field "readonly" is neither true nor false/ },
  { line: '{"usr":"ann"}', says: /line 3: its field "usr" is unknown/ },
  {
    line: '{"apiVersion":"x/v1","kind":"Policy"}',
    says: /line 3: its apiVersion is "x\/v1"; abac\.authorization\.cluster\.io\/v1beta1 is known/,
  },
  { line: '{"apiVersion":"abac.authorization.cluster.io/v1beta1","kind":"Rule"}', says: /line 3: its kind is "Rule"/ },
]

for (const { line, says } of broken)
  test(`${line} is refused with its line`, () => assert.throws(() => authorizerOf('# first', ' ', line), says))
