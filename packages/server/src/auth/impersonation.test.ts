// Impersonate-* headers: the impersonated user and the required permissions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { readImpersonation } from './impersonation.js'

const identity = identityOf('kubernetes')
const impersonate = (...headers: string[]) => readImpersonation(headers, identity)
const permissionsOf = (...headers: string[]): readonly string[] =>
  (impersonate(...headers)?.permissions ?? []).map(
    ({ verb, group, namespace, resource, subresource, name }) => `${verb} ${group}/${resource}/${subresource} ${namespace}/${name}`,
  )

test('without Impersonate-* headers, or with an empty user, no user is impersonated', () => {
  assert.equal(impersonate('Accept', 'x'), undefined)
  assert.equal(impersonate('Impersonate-User', ''), undefined)
  assert.throws(() => impersonate('Impersonate-User', '', 'Impersonate-Group', 'system:masters'), /require Impersonate-User/)
})

test('header values are decoded as UTF-8', () => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  const headers = ['Impersonate-User', bytes('Łukasz'), 'Impersonate-Group', bytes('Größe'), 'Impersonate-Extra-a', bytes('李')]
  const { name, groups, extra } = impersonate(...headers)?.user ?? {}
  assert.deepEqual([name, groups, extra], ['Łukasz', ['Größe', 'system:authenticated'], { a: ['李'] }])
  assert.deepEqual(permissionsOf(...headers).slice(0, 2), ['impersonate /users/ /Łukasz', 'impersonate /groups/ /Größe'])
})

test('each Impersonate-* header requires its own permission', () => {
  const headers = ['IMPERSONATE-USER', 'zoe', 'Impersonate-Group', 'a, b', 'impersonate-group', 'c', 'Impersonate-Uid', 'u 1']
  const extra = ['Impersonate-Extra-Scopes', 'x', 'Impersonate-Extra-scopes', 'y', 'Impersonate-Extra-acme.com%2FProject', 'p']
  assert.deepEqual(permissionsOf(...headers, ...extra), [
    'impersonate /users/ /zoe',
    'impersonate /groups/ /a, b',
    'impersonate /groups/ /c',
    'impersonate authentication.k8s.io/userextras/scopes /x',
    'impersonate authentication.k8s.io/userextras/scopes /y',
    'impersonate authentication.k8s.io/userextras/acme.com/project /p',
    'impersonate authentication.k8s.io/uids/ /u 1',
  ])
  assert.deepEqual(impersonate(...headers, ...extra)?.user, {
    name: 'zoe',
    uid: 'u 1',
    groups: ['a, b', 'c', 'system:authenticated'],
    extra: { scopes: ['x', 'y'], 'acme.com/project': ['p'] },
  })
})

test('only a full service account name is checked as `serviceaccounts`', () => {
  assert.deepEqual(permissionsOf('impersonate-user', 'system:serviceaccount:space:robot'), ['impersonate /serviceaccounts/ space/robot'])
  for (const name of [
    'system:serviceaccount:space',
    'system:serviceaccount:space:a:b',
    'system:serviceaccount:Space:a',
    'system:serviceaccount::a',
    'system:serviceaccount:a.b:c',
  ])
    assert.deepEqual(permissionsOf('impersonate-user', name), [`impersonate /users/ /${name}`])
})

const groups: readonly { readonly headers: readonly string[]; readonly groups: readonly string[] }[] = [
  { headers: ['impersonate-user', 'zoe'], groups: ['system:authenticated'] },
  { headers: ['impersonate-user', 'system:anonymous'], groups: ['system:unauthenticated'] },
  { headers: ['impersonate-user', 'zoe', 'impersonate-group', 'system:unauthenticated'], groups: ['system:unauthenticated'] },
  { headers: ['impersonate-user', 'zoe', 'impersonate-group', 'system:authenticated'], groups: ['system:authenticated'] },
  {
    headers: ['impersonate-user', 'system:serviceaccount:space:robot'],
    groups: ['system:serviceaccounts', 'system:serviceaccounts:space', 'system:authenticated'],
  },
  {
    headers: ['impersonate-user', 'system:serviceaccount:space:robot', 'impersonate-group', 'devs'],
    groups: ['devs', 'system:authenticated'],
  },
]

for (const row of groups) {
  test(`groups of ${row.headers.join(' ')}`, () => assert.deepEqual(impersonate(...row.headers)?.user.groups, row.groups))
}

const refused: readonly { readonly headers: readonly string[]; readonly code: number }[] = [
  { headers: ['impersonate-group', 'devs'], code: 400 },
  { headers: ['impersonate-uid', 'x'], code: 400 },
  { headers: ['impersonate-extra-a', 'x'], code: 400 },
  { headers: ['impersonate-user', 'zoe', 'impersonate-role', 'admin'], code: 403 },
  { headers: ['impersonate-role', 'admin'], code: 403 },
  { headers: ['impersonate-user', 'zoe', ...Array.from({ length: 1001 }, () => ['impersonate-group', 'g']).flat()], code: 400 },
]

for (const row of refused) {
  test(`headers ${row.headers.slice(0, 4).join(' ')} return ${row.code}`, () =>
    assert.throws(
      () => impersonate(...row.headers),
      (thrown) => thrown instanceof ApiError && thrown.status.code === row.code,
    ))
}

test('of repeated Impersonate-User and Impersonate-Uid the first counts and is authorized', () => {
  const twice = impersonate('impersonate-user', 'zoe', 'impersonate-user', 'admin', 'impersonate-uid', '1', 'impersonate-uid', '2')
  assert.deepEqual([twice?.user.name, twice?.user.uid, twice?.permissions.length], ['zoe', '1', 2])
})
