// Command lines: every way to write a flag, what is wrong with one, and times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs, parseLine } from './flags.js'

const table = {
  namespace: { kind: 'text', short: 'n', help: '' },
  all: { kind: 'switch', short: 'A', help: '' },
  wait: { kind: 'switch', initial: 'true', help: '' },
  watch: { kind: 'switch', short: 'w', help: '' },
  filename: { kind: 'list', short: 'f', help: '' },
  literal: { kind: 'texts', help: '' },
  replicas: { kind: 'number', help: '' },
  'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: '' },
} as const

const parse = (...words: readonly string[]) => parseLine(words, table)

test('flags in all their forms', () => {
  for (const words of [['-n', 'a'], ['-n=a'], ['-na'], ['--namespace', 'a'], ['--namespace=a']])
    assert.equal(parse(...words).flags.namespace, 'a', words.join(' '))
  const { flags, args, rest } = parse(
    'get',
    '-Aw',
    'pods',
    '-f',
    'x,y',
    '-f=z',
    '--wait=false',
    '--replicas=3',
    '--dry-run',
    'b',
    '--',
    '-n',
    'c',
  )
  assert.deepEqual(flags, {
    namespace: undefined,
    all: true,
    wait: false,
    watch: true,
    filename: ['x', 'y', 'z'],
    literal: [],
    replicas: 3,
    'dry-run': 'unchanged',
  })
  assert.deepEqual(args, ['get', 'pods', 'b'])
  assert.deepEqual(rest, ['-n', 'c'])
  assert.equal(parse('-Anx').flags.namespace, 'x')
  assert.deepEqual(parse('-').args, ['-'])
  assert.equal(parse().flags['dry-run'], 'none')
})

test('texts are taken as they are, and lists are cut at the commas that are not in quotes', () => {
  assert.deepEqual(parse('--literal=hosts=a,b', '--literal', '"c"', '--literal=').flags.literal, ['hosts=a,b', '"c"', ''])
  assert.deepEqual(parse('-f', '"a,b",c', '-f=,"say ""so""",', '-f=').flags.filename, ['a,b', 'c', '', 'say "so"', ''])
  assert.throws(() => parse('-f=a"b'), /a quote stands in the midst of a value/)
  assert.throws(() => parse('-f="a"b,c'), /a quote stands in the midst of a value/)
})

test('what is wrong is told', () => {
  assert.throws(() => parse('--namespaces=a'), /unknown flag: --namespaces; did you mean "namespace"\?/)
  assert.throws(() => parse('-x'), /unknown shorthand flag: 'x' in -x/)
  assert.throws(() => parse('-n'), /flag needs an argument: -n/)
  assert.throws(() => parse('--all=maybe'), /either true or false/)
  assert.throws(() => parse('--replicas=two'), /a whole number is expected/)
})

test('times', () => {
  assert.deepEqual(
    ['5s', '1h30m', '500ms', '7', '-1s', '1.5s'].map((text) => durationMs('timeout', text)),
    [5000, 5_400_000, 500, 7000, -1000, 1500],
  )
  assert.throws(() => durationMs('timeout', 'soon'), /--timeout/)
})
