// What an extension server is asked for, and in whose name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '../api/request-info.js'
import { extensionHeaders, pathToForward } from './extension-request.js'

const paths: readonly (readonly [url: string, expected: string | undefined])[] = [
  ['/apis/g/v1/things?watch=1&a=%2e%2e', '/apis/g/v1/things?watch=1&a=%2e%2e'],
  ['/apis/g/v1/things/', '/apis/g/v1/things/'],
  ['/apis/g/v1/things/a%2Fb', '/apis/g/v1/things/a/b'],
  ['/apis/g/v1/things/a%20b%3F%25', '/apis/g/v1/things/a%20b%3F%25'],
  ['/apis/g/v1/things/a:b@c%3A', '/apis/g/v1/things/a:b@c:'],
  ['/apis/g/v1/things/%C3%A4', '/apis/g/v1/things/%C3%A4'],
  ['/apis/g/v1/../../api/v1/secrets', undefined],
  ['/apis/g/v1/%2e%2e/x', undefined],
  ['/apis/g/v1/x%2F..%2Fy', undefined],
  ['/apis/g/v1/./x', undefined],
  ['/apis/g/v1/%zz', undefined],
]

for (const [url, expected] of paths)
  test(`${url} asks for ${expected ?? 'nothing'}`, () => assert.equal(pathToForward({ info: parseRequest('GET', url) }), expected))

const vouch = (headers: string[], name = 'jane', extra: { readonly [key: string]: readonly string[] } = {}): string[] => {
  const user = { name, uid: 'u', groups: ['a', 'b, c'], extra }
  const exchange = { user, auditId: 'id', info: parseRequest('GET', '/apis/g/v1/things') }
  extensionHeaders(headers, { exchange, host: '10.0.0.1:443', isVouching: (header) => header === 'x-alt-user' })
  return headers
}

test('the user is told by this server alone', () => {
  const headers = vouch(['X-Alt-User', 'root', 'Host', 'api.example', 'x-alt-user', 'root', 'X-Own', '1', 'audit-id', 'theirs'], 'jane', {
    'acme.com/project': ['p', 'q'],
    '100%': ['x'],
  })
  assert.deepEqual(headers, [
    ...['X-Own', '1', 'Host', '10.0.0.1:443', 'X-Forwarded-Uri', '/apis/g/v1/things', 'X-Forwarded-Host', '10.0.0.1:443'],
    ...['X-Forwarded-Proto', 'https', 'Audit-Id', 'id', 'X-Remote-User', 'jane', 'X-Remote-Group', 'a', 'X-Remote-Group', 'b, c'],
    ...['X-Remote-Extra-acme.com%2Fproject', 'p', 'X-Remote-Extra-acme.com%2Fproject', 'q', 'X-Remote-Extra-100%25', 'x'],
  ])
})

test('a name is sent as its bytes, and one that would be two headers is not sent', () => {
  const headers = vouch([], 'jäne')
  assert.equal(headers[headers.indexOf('X-Remote-User') + 1], Buffer.from('jäne').toString('latin1'))
  assert.throws(() => vouch([], 'jane\r\nX-Remote-Group: system:masters'), /invalid header field value for "X-Remote-User"/)
})
