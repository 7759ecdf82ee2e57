// Tests of object names and generateName prefixes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dns1035LabelProblems, dnsLabelProblems, dnsSubdomainProblems, type NameRule, pathSegmentProblems } from '../checks.js'

const rows: readonly {
  readonly title: string
  readonly rule: NameRule
  readonly name: string
  readonly prefix?: boolean
  readonly problems: number
}[] = [
  { title: 'a valid subdomain', rule: dnsSubdomainProblems, name: 'a.b', problems: 0 },
  { title: 'a name that ends in a dash', rule: dnsSubdomainProblems, name: 'a-', problems: 1 },
  { title: 'a prefix that ends in a dash', rule: dnsSubdomainProblems, name: 'a-', prefix: true, problems: 0 },
  { title: 'a prefix that ends in two dashes', rule: dnsSubdomainProblems, name: 'gg--', prefix: true, problems: 0 },
  { title: 'a prefix that ends in a dot', rule: dnsSubdomainProblems, name: 'gen.', prefix: true, problems: 1 },
  { title: 'a prefix that is a dash', rule: dnsSubdomainProblems, name: '-', prefix: true, problems: 1 },
  { title: 'a label with a dot', rule: dnsLabelProblems, name: 'a.b', problems: 1 },
  { title: 'a label prefix', rule: dnsLabelProblems, name: 'ns-', prefix: true, problems: 0 },
  { title: 'a valid RFC 1035 label', rule: dns1035LabelProblems, name: 'web', problems: 0 },
  { title: 'an RFC 1035 label that begins with a digit', rule: dns1035LabelProblems, name: '1web', problems: 1 },
  { title: 'a path segment with upper case, colon and spaces', rule: pathSegmentProblems, name: 'System:Anything at all', problems: 0 },
]

for (const { title, rule, name, prefix = false, problems } of rows) {
  test(`${title} has ${problems} problems`, () => assert.equal(rule(name, prefix).length, problems))
}

const segments: readonly { readonly name: string; readonly prefix: boolean; readonly problems: readonly string[] }[] = [
  { name: '.', prefix: false, problems: ["may not be '.'"] },
  { name: '..', prefix: false, problems: ["may not be '..'"] },
  { name: '..', prefix: true, problems: [] },
  { name: 'a/b', prefix: false, problems: ["may not contain '/'"] },
  { name: '50%/x', prefix: true, problems: ["may not contain '/'", "may not contain '%'"] },
]

for (const { name, prefix, problems } of segments) {
  test(`"${name}" as ${prefix ? 'prefix' : 'name'} in a path`, () => assert.deepEqual(pathSegmentProblems(name, prefix), problems))
}
