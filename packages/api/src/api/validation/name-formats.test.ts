// Tests of name formats: accepted texts and error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  configKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  grammarProblem,
  labelValue,
  qualifiedName,
  type TextRule,
} from './name-formats.js'

const a = (count: number): string => 'a'.repeat(count)

const accepted: readonly { readonly rule: TextRule; readonly texts: readonly string[] }[] = [
  { rule: dnsLabel, texts: ['a', '1', 'my-name', '123-abc', a(63)] },
  { rule: dnsSubdomain, texts: ['a', 'example.com', 'a-b.c-d', '1.2.3', a(253)] },
  { rule: dns1035Label, texts: ['a', 'abc-123', a(63)] },
  { rule: labelValue, texts: ['', 'a', 'My_Value.1', a(63)] },
  { rule: configKey, texts: ['a', '.hidden', '._.', 'KEY_NAME', a(253), '__proto__'] },
  { rule: qualifiedName, texts: ['a', 'my.name', 'A_b-c', 'example.com/MyName', a(63), `${a(253)}/${a(63)}`] },
]

for (const { rule, texts } of accepted) {
  for (const text of texts) test(`${rule.name || 'rule'} accepts "${text.slice(0, 40)}"`, () => assert.deepEqual(rule(text), []))
}

const labelProblem =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const subdomainProblem =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const nameProblem =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const keyProblem =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
const valueProblem =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const dns1035Problem =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

const rejected: readonly {
  readonly title: string
  readonly rule: TextRule
  readonly text: string
  readonly problems: readonly string[]
}[] = [
  { title: 'an empty label', rule: dnsLabel, text: '', problems: [labelProblem] },
  { title: 'an upper-case label', rule: dnsLabel, text: 'Web', problems: [labelProblem] },
  { title: 'a label with a dot', rule: dnsLabel, text: 'a.b', problems: [labelProblem] },
  { title: 'a label with a line break at the end', rule: dnsLabel, text: 'a\n', problems: [labelProblem] },
  { title: 'a label of 64 characters', rule: dnsLabel, text: a(64), problems: ['must be no more than 63 characters'] },
  {
    title: 'a label of 64 UTF-8 bytes',
    rule: dnsLabel,
    text: 'é'.repeat(32),
    problems: ['must be no more than 63 characters', labelProblem],
  },
  { title: 'a subdomain with consecutive dots', rule: dnsSubdomain, text: 'a..b', problems: [subdomainProblem] },
  { title: 'a subdomain of 254 characters', rule: dnsSubdomain, text: a(254), problems: ['must be no more than 253 characters'] },
  { title: 'an RFC 1035 label that begins with a digit', rule: dns1035Label, text: '1a', problems: [dns1035Problem] },
  { title: 'a label value that begins with a dash', rule: labelValue, text: '-v', problems: [valueProblem] },
  { title: 'a label value of 64 characters', rule: labelValue, text: a(64), problems: ['must be no more than 63 characters'] },
  { title: 'an empty key', rule: configKey, text: '', problems: [keyProblem] },
  { title: 'a key with a slash', rule: configKey, text: 'a/b', problems: [keyProblem] },
  { title: 'one dot as key', rule: configKey, text: '.', problems: ["must not be '.'"] },
  { title: 'two dots as key', rule: configKey, text: '..', problems: ["must not be '..'"] },
  { title: 'a key that begins with two dots', rule: configKey, text: '..x', problems: ["must not start with '..'"] },
  { title: 'a key of 254 characters', rule: configKey, text: a(254), problems: ['must be no more than 253 characters'] },
  { title: 'a key with a parent directory and a slash', rule: configKey, text: '../x', problems: [keyProblem, "must not start with '..'"] },
  {
    title: 'an empty qualified name',
    rule: qualifiedName,
    text: '',
    problems: ['name part must be non-empty', `name part ${nameProblem}`],
  },
  { title: 'a qualified name with a space', rule: qualifiedName, text: 'a b', problems: [`name part ${nameProblem}`] },
  { title: 'a long name part', rule: qualifiedName, text: `x.io/${a(64)}`, problems: ['name part must be no more than 63 characters'] },
  { title: 'a qualified name with an empty prefix', rule: qualifiedName, text: '/a', problems: ['prefix part must be non-empty'] },
  { title: 'a qualified name with an invalid prefix', rule: qualifiedName, text: '_x/b', problems: [`prefix part ${subdomainProblem}`] },
  {
    title: 'a qualified name with an invalid prefix and no name',
    rule: qualifiedName,
    text: 'X/',
    problems: [`prefix part ${subdomainProblem}`, 'name part must be non-empty', `name part ${nameProblem}`],
  },
  {
    title: 'a qualified name with two slashes',
    rule: qualifiedName,
    text: 'a/b/c',
    problems: [`a qualified name ${nameProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
  },
]

for (const { title, rule, text, problems } of rejected) test(`${title} is rejected`, () => assert.deepEqual(rule(text), problems))

test('grammarProblem works without examples', () =>
  assert.equal(grammarProblem('must be x', 'x'), "must be x (regex used for validation is 'x')"))
