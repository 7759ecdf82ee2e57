// Flag parser: syntax, errors, durations.

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

test('short, long, combined and repeated flags', () => {
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

test('lists are split at unquoted commas, texts are not', () => {
  assert.deepEqual(parse('--literal=hosts=a,b', '--literal', '"c"', '--literal=').flags.literal, ['hosts=a,b', '"c"', ''])
  assert.deepEqual(parse('-f', '"a,b",c', '-f=,"say ""so""",', '-f=').flags.filename, ['a,b', 'c', '', 'say "so"', ''])
  assert.throws(() => parse('-f=a"b'), /a quote in the middle of a value/)
  assert.throws(() => parse('-f="a"b,c'), /a quote in the middle of a value/)
})

test('invalid flags are usage errors', () => {
  assert.throws(() => parse('--namespaces=a'), /unknown flag: --namespaces; did you mean "namespace"\?/)
  assert.throws(() => parse('-x'), /unknown shorthand flag: 'x' in -x/)
  assert.throws(() => parse('-n'), /flag needs an argument: -n/)
  assert.throws(() => parse('--all=maybe'), /must be true or false/)
  assert.throws(() => parse('--replicas=two'), /must be an integer/)
})

test('durations', () => {
  assert.deepEqual(
    ['5s', '1h30m', '500ms', '7', '-1s', '1.5s'].map((text) => durationMs('timeout', text)),
    [5000, 5_400_000, 500, 7000, -1000, 1500],
  )
  assert.throws(() => durationMs('timeout', 'soon'), /--timeout/)
})
