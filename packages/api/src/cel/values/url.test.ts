// Tests of CEL URLs: components and errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelUrl, parseUrl, requestUrlProblem } from './url.js'

const partsOf = (text: string): unknown => {
  const url = parseUrl(text)
  if (!(url instanceof CelUrl)) return url
  return [url.scheme, url.host, url.hostname, url.port, url.escapedPath, url.href]
}

const urls: readonly (readonly [text: string, parts: readonly string[]])[] = [
  ['https://u:p@h:80/a%20b?x=1#f', ['https', 'h:80', 'h', '80', '/a%20b', 'https://u:p@h:80/a%20b?x=1#f']],
  ['HTTP://h', ['http', 'h', 'h', '', '', 'http://h']],
  ['*', ['', '', '', '', '*', '*']],
  ['//h/p', ['', 'h', 'h', '', '/p', '//h/p']],
  ['mailto:a@b', ['mailto', '', '', '', '', 'mailto:a@b']],
  ['file:/p', ['file', '', '', '', '/p', 'file:/p']],
  ['https://[fe80::1%25en0]:8/', ['https', '[fe80::1%en0]:8', 'fe80::1%en0', '8', '/', 'https://[fe80::1%25en0]:8/']],
  ['http://a<b>/', ['http', 'a<b>', 'a<b>', '', '/', 'http://a<b>/']],
  // An improperly encoded path is encoded again as a whole.
  ["/a b!'", ['', '', '', '', '/a%20b%21%27', '/a%20b%21%27']],
  ["/a!'[1]", ['', '', '', '', "/a!'[1]", "/a!'[1]"]],
  ['/p?', ['', '', '', '', '/p', '/p?']],
  ['/p#a b', ['', '', '', '', '/p', '/p#a%20b']],
]
for (const [text, parts] of urls) test(`components of ${text}`, () => assert.deepEqual(partsOf(text), parts))

const rejected: readonly (readonly [text: string, message: string])[] = [
  ['', 'parse "": empty url'],
  ['#frag', 'parse "#frag": invalid URI for request'],
  ['a/b', 'parse "a/b": invalid URI for request'],
  [':a', 'parse ":a": missing protocol scheme'],
  ['http://a\u0001', 'parse "http://a\\x01": net/url: invalid control character in URL'],
  ['http://h/#%zz', 'parse "http://h/#%zz": invalid URL escape "%zz"'],
  ['http://h%41/', 'parse "http://h%41/": invalid URL escape "%41"'],
  ['http://a b/', 'parse "http://a b/": invalid character " " in host name'],
  ['http://h:x/', 'parse "http://h:x/": invalid port ":x" after host'],
  ['http://[::1/', `parse "http://[::1/": missing ']' in host`],
  ['http://u ser@h/', 'parse "http://u ser@h/": net/url: invalid userinfo'],
]
for (const [text, message] of rejected) test(`parseUrl rejects ${JSON.stringify(text)}`, () => assert.equal(parseUrl(text), message))

test('requestUrlProblem reads `//a b/p` as a path, parseUrl as a host', () => {
  assert.equal(requestUrlProblem('//a b/p'), undefined)
  assert.equal(parseUrl('//a b/p'), 'parse "//a b/p": invalid character " " in host name')
})
