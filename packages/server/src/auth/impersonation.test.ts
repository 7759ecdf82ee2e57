// Whom the headers of a request name, and which rights that needs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { identityOf } from '../api/identity.js'
import { impersonationOf } from './impersonate.js'

const identity = identityOf('kubernetes')
const asked = (...headers: string[]) => impersonationOf(headers, identity)
const rightsOf = (...headers: string[]): readonly string[] =>
  (asked(...headers)?.rights ?? []).map(
    ({ verb, group, namespace, resource, subresource, name }) => `${verb} ${group}/${resource}/${subresource} ${namespace}/${name}`,
  )

test('without headers, or with an empty user, nobody else is meant', () => {
  assert.equal(asked('Accept', 'x'), undefined)
  assert.equal(asked('Impersonate-User', ''), undefined)
  assert.throws(() => asked('Impersonate-User', '', 'Impersonate-Group', 'system:masters'), /Impersonate-User is missing/)
})

test('names beyond ASCII are those whose bytes came', () => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  const headers = ['Impersonate-User', bytes('Łukasz'), 'Impersonate-Group', bytes('Größe'), 'Impersonate-Extra-a', bytes('李')]
  const { name, groups, extra } = asked(...headers)?.user ?? {}
  assert.deepEqual([name, groups, extra], ['Łukasz', ['Größe', 'system:authenticated'], { a: ['李'] }])
  assert.deepEqual(rightsOf(...headers).slice(0, 2), ['impersonate /users/ /Łukasz', 'impersonate /groups/ /Größe'])
})

test('each header needs a right of its own', () => {
  const headers = ['IMPERSONATE-USER', 'zoe', 'Impersonate-Group', 'a, b', 'impersonate-group', 'c', 'Impersonate-Uid', 'u 1']
  const extra = ['Impersonate-Extra-Scopes', 'x', 'Impersonate-Extra-scopes', 'y', 'Impersonate-Extra-acme.com%2FProject', 'p']
  assert.deepEqual(rightsOf(...headers, ...extra), [
    'impersonate /users/ /zoe',
    'impersonate /groups/ /a, b',
    'impersonate /groups/ /c',
    'impersonate authentication.k8s.io/userextras/scopes /x',
    'impersonate authentication.k8s.io/userextras/scopes /y',
    'impersonate authentication.k8s.io/userextras/acme.com/project /p',
    'impersonate authentication.k8s.io/uids/ /u 1',
  ])
  assert.deepEqual(asked(...headers, ...extra)?.user, {
    name: 'zoe',
    uid: 'u 1',
    groups: ['a, b', 'c', 'system:authenticated'],
    extra: { scopes: ['x', 'y'], 'acme.com/project': ['p'] },
  })
})

test('an account is one only by its whole name', () => {
  assert.deepEqual(rightsOf('impersonate-user', 'system:serviceaccount:space:robot'), ['impersonate /serviceaccounts/ space/robot'])
  for (const name of [
    'system:serviceaccount:space',
    'system:serviceaccount:space:a:b',
    'system:serviceaccount:Space:a',
    'system:serviceaccount::a',
    'system:serviceaccount:a.b:c',
  ])
    assert.deepEqual(rightsOf('impersonate-user', name), [`impersonate /users/ /${name}`])
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
  test(`groups of ${row.headers.join(' ')}`, () => assert.deepEqual(asked(...row.headers)?.user.groups, row.groups))
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
  test(`refused: ${row.headers.slice(0, 4).join(' ')}`, () =>
    assert.throws(
      () => asked(...row.headers),
      (thrown) => thrown instanceof ApiError && thrown.status.code === row.code,
    ))
}

test('of a user or uid that stands twice the first counts, and is the one that is asked about', () => {
  const twice = asked('impersonate-user', 'zoe', 'impersonate-user', 'admin', 'impersonate-uid', '1', 'impersonate-uid', '2')
  assert.deepEqual([twice?.user.name, twice?.user.uid, twice?.rights.length], ['zoe', '1', 2])
})
