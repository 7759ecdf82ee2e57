// Tests of wildcard host names, fully qualified domain names and domain-prefixed paths.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../../rule-context.fixture.js'
import { checkDomainPrefixedPath, checkFullyQualifiedName, hostName } from './domain-names.js'

const hosts: readonly (readonly [host: string, problemCount: number])[] = [
  ['example.com', 0],
  ['*.example.com', 0],
  ['*bad.com', 1],
  ['a.*.com', 1],
  ['*', 1],
  ['UPPER', 1],
  [`*.${'a'.repeat(252)}`, 1],
]
for (const [host, problemCount] of hosts) test(`host ${host.slice(0, 20)}`, () => assert.equal(hostName(host).length, problemCount))

/** Expected errors, by their beginning. */
const names: readonly (readonly [name: string, errors: readonly string[]])[] = [
  ['a.example', []],
  ['a.example.', []],
  ['', ['f: Required value']],
  ['example', ['f: Invalid value: "example": should be a domain with at least two segments separated by dots']],
  ['A.b', ['f: Invalid value: "A.b": a lowercase RFC 1123 subdomain']],
  [`${'a'.repeat(64)}.b`, [`f: Invalid value: "${'a'.repeat(64)}": must be no more than 63 characters`]],
]
for (const [name, expected] of names) {
  test(`qualified name ${name.slice(0, 20)}`, () => {
    const errors = lines(checkFullyQualifiedName(name, 'f'))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, expected[i]?.length)),
      expected,
    )
  })
}

const paths: readonly (readonly [path: string, errors: readonly string[]])[] = [
  ['acme.io/foo', []],
  ['acme.io/foo/bar', []],
  ['', ['f: Required value']],
  ['nodomain', ['f: Invalid value: "nodomain": must be a domain-prefixed path (such as "acme.io/foo")']],
  ['/x', ['f: Invalid value: "/x": must be a domain-prefixed path']],
  ['acme.io/', ['f: Invalid value: "acme.io/": must be a domain-prefixed path']],
  ['UP/a b', ['f: Invalid value: "UP": a lowercase', 'f: Invalid value: "a b": Invalid path (regex used for validation is']],
]
for (const [path, expected] of paths) {
  test(`path ${path}`, () => {
    const errors = lines(checkDomainPrefixedPath(path, 'f'))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, expected[i]?.length)),
      expected,
    )
  })
}
