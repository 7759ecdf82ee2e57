// The laws of ARCHITECTURE.md, checked against every file of src/: the document stays true because this fails when it is not.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from './kit/paths.js'
import { importsOf, readSourceFiles, resolveImport, type SourceFile } from './kit/source-files.js'

interface Room {
  readonly isPure: boolean
  readonly mayImport: readonly string[]
}

const document = readFileSync(`${repoRoot}ARCHITECTURE.md`, 'utf8')
const rooms = readRooms(document)
const files = readSourceFiles()
const code = files.filter((file) => !file.isTest)

function readRooms(text: string): ReadonlyMap<string, Room> {
  const rows = [...text.matchAll(/^\| `([a-z]+)` \| (yes)? *\| [^|]+ \| ([a-z ]*)\|$/gm)]
  return new Map(
    rows.map(([, name = '', pure, list = '']) => [name, { isPure: pure === 'yes', mayImport: list.split(' ').filter(Boolean) }]),
  )
}

/** Test code may look at any room; its own room's code may not. */
const none: readonly string[] = []
const complain = (problems: readonly string[]): void => assert.deepEqual(problems, none)

test('the table of rooms is there and whole', () => {
  assert.ok(rooms.size >= 16 && rooms.size <= 19, `${rooms.size} rooms in the table`)
  for (const [name, { mayImport }] of rooms) {
    complain(
      mayImport.filter((other) => !rooms.has(other) || other === name).map((other) => `${name} may import ${other}, which is no room`),
    )
  }
  complain([...rooms].filter(([, { mayImport }]) => mayImport.includes('server')).map(([name]) => `${name} imports the composition root`))
})

test('the table has no circle', () => {
  const floors = new Map<string, number>()
  for (let round = 0; round < rooms.size; round++) {
    for (const [name, { mayImport }] of rooms) {
      if (mayImport.every((other) => floors.has(other)) && !floors.has(name)) floors.set(name, round)
    }
  }
  complain([...rooms.keys()].filter((name) => !floors.has(name)))
})

test('every file lives in a room', () => {
  complain(files.filter(({ room }) => !rooms.has(room)).map(({ path }) => path))
})

test('rooms import only the rooms of their row', () => {
  const problems = code.flatMap((file) =>
    relativeImports(file)
      .map((path) => path.split('/')[1] ?? '')
      .filter((room) => room !== file.room && !rooms.get(file.room)?.mayImport.includes(room))
      .map((room) => `${file.path} imports ${room}`),
  )
  complain(problems)
})

test('imports lead to files of src', () => {
  const known = new Set(files.map(({ path }) => path))
  complain(files.flatMap((file) => relativeImports(file).flatMap((path) => (known.has(path) ? [] : [`${file.path} imports ${path}`]))))
})

/** Packages that only compute. */
const purePackages = ['re2js']

test('pure rooms import nothing of the machine', () => {
  const problems = code
    .filter(({ room }) => rooms.get(room)?.isPure)
    .flatMap((file) =>
      file.imports.filter((name) => !name.startsWith('.') && !purePackages.includes(name)).map((name) => `${file.path}: ${name}`),
    )
  complain(problems)
})

const impure =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bprocess\.|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(|\bconsole\./

/** Where the others are given the time and the turns of the event loop. */
const givers: readonly string[] = ['src/base/clock.ts', 'src/base/pieces.ts']

test('pure rooms use no clock, randomness or process that they were not given', () => {
  const problems = code
    .filter(({ room, path }) => rooms.get(room)?.isPure && !givers.includes(path))
    .flatMap(({ path, text }) =>
      lines(text).flatMap((line, i) => (impure.test(line) && !isComment(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    )
  complain(problems)
})

/** Bounds and keys of the store by the names that they go by; plain `start` and `end` may be places in bytes, unless they are compared with each other. */
const keyName = String.raw`(?:[\w.?]*\b(?:key|[a-z]\w*Key|cursor)|[\w.?]*\b(?:range|segment|query|page|found|next|rest|whole|stale)\??\.(?:start|end)|\([^()]* as Segment\)\.(?:start|end))`
const keyComparison = new RegExp(
  String.raw`(?:${keyName} (?:<|>|<=|>=) |(?:^|[^=]) (?:<|>|<=|>=) \(?${keyName}\b(?!\.)|\bstart (?:<|>|<=|>=) end\b|\bend (?:<|>|<=|>=) start\b)`,
)
/** What `compareText(a, b)` and its like answer is a number. */
const comparesKeys = (line: string): boolean => keyComparison.test(line.replaceAll(/\bcompare\w*\((?:[^()]|\([^()]*\))*\)/g, 'number'))
const sortsNatively = /\.(?:sort|toSorted)\(\)|\.localeCompare\(|< [a-z][\w.]* \? -1\b|> [a-z][\w.]* \? 1\b/

/** Where the order is made, and where numbers are compared. */
const orderFiles = ['src/base/text-order.ts', 'src/patch/path-element.ts']

test('texts are ordered by base/text-order alone: JavaScript orders UTF-16 units, the store and the reference order bytes', () => {
  const problems = code
    .filter(({ path }) => !orderFiles.includes(path))
    .flatMap(({ path, text, room }) =>
      lines(text).flatMap((line, i) => {
        const isWrong = sortsNatively.test(line) || (keyRooms.includes(room) && comparesKeys(line))
        return isWrong && !isComment(line) ? [`${path}:${i + 1} ${line.trim()}`] : []
      }),
    )
  complain(problems)
})

const keyRooms = ['objects', 'storage']

test('the rule about keys knows a comparison when it sees one', () => {
  const wrong = [
    'while (left > 0 && cursor < range.end) {',
    'if (segment === undefined || key >= segment.end || segment.isStale) return undefined',
    'if (change.key < watcher.range.start || change.key >= watcher.range.end) continue',
    'keys.filter((key) => key >= start && key < end)',
    'const isEmptyRange = ({ start, end }: KeyRange): boolean => start >= end',
    'next !== undefined && next.start < end ? next.start : end',
    'if ((segments[middle] as Segment).start <= key) low = middle + 1',
    'return lastKey < other ? 1 : 0',
  ]
  complain(wrong.filter((line) => !comparesKeys(line)))
  const right = [
    'if (compareText(key, segment.end) >= 0) return',
    'if (keys.length < 2) return',
    'for (let i = 0; i < keys.length; i++)',
    'const needed = used + scanned.end - scanned.start',
    'const byKey = new Map<string, KeyRange>()',
    'keys.filter((key) => isInRange(key, range))',
    'key.length * 3 > longestKeyBytes',
  ]
  complain(right.filter((line) => comparesKeys(line)))
})

const tablesOfContents = ['src/resources/index.ts', 'src/server/index.ts', 'src/client/index.ts', 'src/client/browser.ts']

test('no barrels but the tables of contents', () => {
  const isBarrel = ({ path, text }: SourceFile): boolean => {
    const exported = text.match(/^export\s/gm)?.length ?? 0
    const passedOn = text.match(/^export\s+(?:type\s+)?(?:\*[^;\n]*?|\{[^}]*\})\s*from/gm)?.length ?? 0
    return basename(path) === 'index.ts' || /^export\s+\*/m.test(text) || (passedOn > 0 && passedOn === exported)
  }
  complain(files.filter((file) => isBarrel(file) && !tablesOfContents.includes(file.path)).map(({ path }) => path))
})

/** Names of health checks are the names by which operators' tools know them, under either identity. */
const spellers = ['src/api/identity.ts', 'src/http/health.ts']

test('nothing but the identity spells a vocabulary', () => {
  const brand = /k8s\.io|kubernetes\.io|cluster\.io|\bkube-|application\/vnd\.(?:kubernetes|cluster)\b/
  const problems = code
    .filter(({ path }) => !spellers.includes(path))
    .flatMap(({ path, text }) => lines(text).flatMap((line, i) => (brand.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])))
  complain(problems)
})

const longestFile = 400

/** Longer ones, each with its reason. */
const longFiles: { readonly [path: string]: string } = {}

test('files are short', () => {
  const problems = files
    .filter(({ path }) => !path.endsWith('.schema.ts') && !(path in longFiles))
    .flatMap(({ path, text }) => (lines(text).length > longestFile + 1 ? [`${path}: ${lines(text).length - 1} lines`] : []))
  complain(problems)
})

test('the composition root is read from top to bottom: short functions', () => {
  const text = lines(files.find(({ path }) => path === 'src/server/assemble.ts')?.text ?? '')
  assert.ok(text.length > 1 && text.length < 200, `${text.length} lines`)
  const begins = text.flatMap((line, at) => (/^(?:export )?(?:async )?function /.test(line) ? [at] : []))
  const lengths = begins.map((at) => text.indexOf('}', at) - at + 1)
  assert.ok(lengths.length > 3 && Math.max(...lengths) <= 60, `functions of ${lengths.join(', ')} lines`)
})

test('file names are kebab-case', () => {
  complain(files.filter(({ path }) => !/^src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+(?:\.[a-z]+)?\.ts$/.test(path)).map(({ path }) => path))
})

/** A kind may be called a service. */
const namesKinds = (path: string): boolean => path.endsWith('.schema.ts') || path === 'src/client/typed/types.ts'

test('nothing is named after a pattern', () => {
  const name = /\b(?:class|interface)\s+\w*(?:Manager|Helper|Util|Utils|Handler|Impl|Service)\b(?=[^\w])/
  complain(
    files.flatMap(({ path, text }) =>
      lines(text).flatMap((line) => (name.test(line) && !namesKinds(path) ? [`${path}: ${line.trim()}`] : [])),
    ),
  )
})

test('every file begins with a sentence that says what it is', () => {
  for (const folder of ['src', 'test', 'bench']) {
    complain(
      readSourceFiles(folder)
        .filter(({ text }) => !/^\/\/ [^\n]*\S[^\n]*\n/.test(text))
        .map(({ path }) => path),
    )
  }
})

test('the reader of imports knows every form', () => {
  const text = `import { a } from './a.js'
import type { B } from '../b.js'
import {
  c,
  type D,
} from './c.js'
export { e } from './e.js'
import './f.js'
const g = await import('./g.js')
type H = import('node:http').Server
// import { no } from './no.js'
`
  assert.deepEqual(importsOf(text), ['./a.js', '../b.js', './c.js', './e.js', './f.js', './g.js', 'node:http'])
})

function relativeImports(file: SourceFile): readonly string[] {
  return file.imports.filter((name) => name.startsWith('.')).map((name) => resolveImport(file, name))
}

function lines(text: string): readonly string[] {
  return text.split('\n')
}

function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\*|\/\*)/.test(line)
}
