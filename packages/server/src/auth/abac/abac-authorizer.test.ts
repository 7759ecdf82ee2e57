// ABAC policies: decisions, rules, and errors of invalid files.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { anonymous, type User } from '@cluster-apiserver/api/api/user.js'
import { abacAuthorizer, parsePolicies } from './abac-authorizer.js'

const identity = identityOf('cluster')
const authorizerOf = (...lines: readonly (object | string)[]) =>
  abacAuthorizer(parsePolicies(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'), identity))
const policy = (spec: object) => ({ apiVersion: 'abac.authorization.cluster.io/v1beta1', kind: 'Policy', spec })
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
const ann = user('ann', 'devs', 'system:authenticated')

const rows: readonly { readonly line: object; readonly user?: User; readonly request: string; readonly allowed: boolean }[] = [
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
  { line: policy({ user: '*', nonResourcePath: '*' }), user: anonymous, request: 'GET /x', allowed: false },
  { line: policy({ group: '*', nonResourcePath: '*' }), user: anonymous, request: 'GET /x', allowed: false },
  { line: policy({ group: 'system:unauthenticated', nonResourcePath: '*' }), user: anonymous, request: 'GET /x', allowed: true },
  { line: { user: 'ann', readonly: true }, request: 'GET /apis/apps/v1/namespaces/n/deployments', allowed: true },
  { line: { user: 'ann', readonly: true }, request: 'GET /x', allowed: true },
  { line: { user: 'ann', resource: 'pods' }, request: 'GET /x', allowed: false },
  { line: { resource: 'pods' }, request: 'GET /api/v1/pods', allowed: true },
  { line: { resource: 'pods' }, user: anonymous, request: 'GET /api/v1/pods', allowed: false },
]

for (const { line, user: requester = ann, request, allowed } of rows) {
  test(`${JSON.stringify(line)} ${allowed ? 'allows' : 'does not allow'} ${requester.name} ${request}`, async () => {
    const [method = '', path = ''] = request.split(' ')
    const decision = await authorizerOf(line).authorize({ user: requester, info: parseRequest(method, path) })
    assert.deepEqual(decision, allowed ? { verdict: 'allow', reason: '' } : { verdict: 'no-opinion', reason: 'No policy matched.' })
  })
}

test("rules are those of the user's policies in the namespace", async () => {
  const authorizer = authorizerOf(
    policy({ user: 'ann', namespace: 'n', resource: 'pods', readonly: true }),
    policy({ user: 'ann', namespace: 'm', resource: 'secrets' }),
    policy({ group: 'devs', namespace: '*', apiGroup: 'apps', resource: '*', nonResourcePath: '/x' }),
  )
  assert.deepEqual(await authorizer.rulesFor?.(ann, 'n'), {
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x'] }],
  })
})

const invalidLines: readonly { readonly line: string; readonly message: RegExp }[] = [
  { line: '{"user":', message: /line 3: / },
  { line: '[]', message: /line 3: a policy must be an object/ },
  { line: '{"user":5}', message: /line 3: its field "user" must be a string/ },
  { line: '{"readonly":"yes"}', message: /line 3: its field "readonly" must be a boolean/ },
  { line: '{"usr":"ann"}', message: /line 3: its field "usr" is unknown/ },
  {
    line: '{"apiVersion":"x/v1","kind":"Policy"}',
    message: /line 3: its apiVersion is "x\/v1"; abac\.authorization\.cluster\.io\/v1beta1 is known/,
  },
  { line: '{"apiVersion":"abac.authorization.cluster.io/v1beta1","kind":"Rule"}', message: /line 3: its kind is "Rule"/ },
]

for (const { line, message } of invalidLines)
  test(`${line} is an error with the line number`, () => assert.throws(() => authorizerOf('# first', ' ', line), message))
