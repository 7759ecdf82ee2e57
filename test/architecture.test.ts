// Checks every source file against the rules of ARCHITECTURE.md. A room is a folder of code; its row there lists the rooms it may import.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from './kit/paths.js'
import { importsOf, packageNames, readFolder, readSourceFiles, resolveImport, roomOf, type SourceFile } from './kit/source-files.js'

interface Room {
  readonly isPure: boolean
  readonly mayImport: readonly string[]
}

const document = readFileSync(`${repoRoot}ARCHITECTURE.md`, 'utf8')
const rooms = readRooms(document)
const files = readSourceFiles()
const sourceFolders = Object.keys(packageNames).map((name) => `packages/${name}/src`)
const code = files.filter((file) => !file.isTest)

function readRooms(text: string): ReadonlyMap<string, Room> {
  const rows = [...text.matchAll(/^\| `([a-z-]+)` \| (yes)? *\| [^|]+ \| ([a-z -]*)\|$/gm)]
  return new Map(
    rows.map(([, name = '', pure, list = '']) => [name, { isPure: pure === 'yes', mayImport: list.split(' ').filter(Boolean) }]),
  )
}

const none: readonly string[] = []
const expectNone = (problems: readonly string[]): void => assert.deepEqual(problems, none)

test('ARCHITECTURE.md has a complete table of rooms', () => {
  assert.ok(rooms.size >= 20 && rooms.size <= 25, `${rooms.size} rooms in the table`)
  for (const [name, { mayImport }] of rooms) {
    expectNone(
      mayImport.filter((other) => !rooms.has(other) || other === name).map((other) => `${name} may import ${other}, which is no room`),
    )
  }
  const importers = (room: string): readonly string[] => [...rooms].filter(([, row]) => row.mayImport.includes(room)).map(([name]) => name)
  assert.deepEqual(importers('assemble'), ['commands'], 'only the commands import the composition root')
  expectNone(importers('commands'))
})

test('the table has no cycle', () => {
  const layers = new Map<string, number>()
  for (let round = 0; round < rooms.size; round++) {
    for (const [name, { mayImport }] of rooms) {
      if (mayImport.every((other) => layers.has(other)) && !layers.has(name)) layers.set(name, round)
    }
  }
  expectNone([...rooms.keys()].filter((name) => !layers.has(name)))
})

test('every file is in a room', () => {
  expectNone(files.filter(({ room }) => !rooms.has(room)).map(({ path }) => path))
})

test('rooms import only the rooms of their row', () => {
  const problems = code.flatMap((file) =>
    ownImports(file)
      .map(roomOf)
      .filter((room) => room !== file.room && !rooms.get(file.room)?.mayImport.includes(room))
      .map((room) => `${file.path} imports ${room}`),
  )
  expectNone(problems)
})

test('imports resolve to source files', () => {
  const known = new Set(files.map(({ path }) => path))
  expectNone(files.flatMap((file) => ownImports(file).flatMap((path) => (known.has(path) ? [] : [`${file.path} imports ${path}`]))))
})

interface PackageJson {
  readonly version: string
  readonly exports: { readonly [path: string]: unknown }
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies?: { readonly [name: string]: string }
}

const readPackage = (folder: string): PackageJson => JSON.parse(readFileSync(`${repoRoot}${folder}package.json`, 'utf8')) as PackageJson
const packages = Object.entries(packageNames).map(([folder, name]) => ({ folder, name, ...readPackage(`packages/${folder}/`) }))
const root = readPackage('')

test('packages import one another by name, never by path', () => {
  const leavesPackage = (file: SourceFile, name: string): boolean =>
    name.startsWith('.') && resolveImport(file, name)?.startsWith(`packages/${file.package}/`) !== true
  expectNone(
    files.flatMap((file) => file.imports.filter((name) => leavesPackage(file, name)).map((name) => `${file.path} imports ${name}`)),
  )
})

test('package exports list exactly the modules that other packages import', () => {
  const imported = new Set(files.flatMap((file) => file.imports.filter((name) => resolveImport(file, name) !== undefined)))
  for (const { folder, name, exports } of packages) {
    const used = [...imported].filter((path) => path.startsWith(`${name}/`)).map((path) => path.slice(name.length))
    const expected = [...used.map((path) => [`.${path}`, `./dist${path}`]), ['./package.json', './package.json']]
    assert.deepEqual(exports, Object.fromEntries(expected), `packages/${folder}/package.json`)
  }
})

test('packages declare their dependencies, in the versions of the root', () => {
  const dependencyOf = (name: string): string => name.split('/', name.startsWith('@') ? 2 : 1).join('/')
  for (const { folder, version, dependencies, devDependencies } of packages) {
    const declared = { ...dependencies, ...devDependencies }
    const used = code
      .filter((file) => file.package === folder)
      .flatMap(({ imports }) => imports.filter((name) => !/^(?:\.|node:)/.test(name)).map(dependencyOf))
    assert.deepEqual(Object.keys(declared).sort(), [...new Set(used)].sort(), `packages/${folder}/package.json`)
    const versionOf = (name: string): string | undefined =>
      packages.find((each) => each.name === name)?.version ?? root.dependencies?.[name] ?? root.devDependencies?.[name]
    expectNone(Object.entries(declared).flatMap(([name, wanted]) => (wanted === versionOf(name) ? [] : [`${folder}: ${name} ${wanted}`])))
    assert.equal(version, root.version)
  }
})

/** npm packages without I/O, allowed in pure rooms. */
const purePackages = ['re2js']

test('pure rooms import no Node.js modules and no npm packages with I/O', () => {
  const problems = code
    .filter(({ room }) => rooms.get(room)?.isPure)
    .flatMap((file) =>
      file.imports
        .filter((name) => resolveImport(file, name) === undefined && !purePackages.includes(name))
        .map((name) => `${file.path}: ${name}`),
    )
  expectNone(problems)
})

const impureGlobals =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bprocess\.|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(|\bconsole\./

/** Files that read the clock and yield to the event loop, for all others. */
const clockFiles: readonly string[] = ['packages/api/src/base/clock.ts', 'packages/api/src/base/turn-budget.ts']

test('pure rooms use no global clock, randomness or process', () => {
  const problems = code
    .filter(({ room, path }) => rooms.get(room)?.isPure && !clockFiles.includes(path))
    .flatMap(({ path, text }) =>
      lines(text).flatMap((line, i) => (impureGlobals.test(line) && !isComment(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    )
  expectNone(problems)
})

/** Names of storage keys and bounds; `start` and `end` may be byte offsets, unless compared with each other. */
const keyName = String.raw`(?:[\w.?]*\b(?:key|[a-z]\w*Key|cursor)|[\w.?]*\b(?:range|segment|query|page|found|next|rest|whole|stale)\??\.(?:start|end)|\([^()]* as Segment\)\.(?:start|end))`
const keyComparison = new RegExp(
  String.raw`(?:${keyName} (?:<|>|<=|>=) |(?:^|[^=]) (?:<|>|<=|>=) \(?${keyName}\b(?!\.)|\bstart (?:<|>|<=|>=) end\b|\bend (?:<|>|<=|>=) start\b)`,
)
/** Results of `compareText(a, b)` and similar functions are numbers. */
const comparesKeys = (line: string): boolean => keyComparison.test(line.replaceAll(/\bcompare\w*\((?:[^()]|\([^()]*\))*\)/g, 'number'))
const sortsNatively = /\.(?:sort|toSorted)\(\)|\.localeCompare\(|< [a-z][\w.]* \? -1\b|> [a-z][\w.]* \? 1\b/

/** Files that define the order, or compare numbers. */
const orderFiles = ['packages/api/src/base/text-order.ts', 'packages/api/src/patch/field-set/path-element.ts']

test('strings are compared by base/text-order only: the store and kube-apiserver order bytes, JavaScript UTF-16 units', () => {
  const problems = code
    .filter(({ path }) => !orderFiles.includes(path))
    .flatMap(({ path, text, room }) =>
      lines(text).flatMap((line, i) => {
        const isWrong = sortsNatively.test(line) || (keyRooms.includes(room) && comparesKeys(line))
        return isWrong && !isComment(line) ? [`${path}:${i + 1} ${line.trim()}`] : []
      }),
    )
  expectNone(problems)
})

const keyRooms = ['objects', 'storage']

test('the check of string comparisons finds examples', () => {
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
  expectNone(wrong.filter((line) => !comparesKeys(line)))
  const right = [
    'if (compareText(key, segment.end) >= 0) return',
    'if (keys.length < 2) return',
    'for (let i = 0; i < keys.length; i++)',
    'const needed = used + scanned.end - scanned.start',
    'const byKey = new Map<string, KeyRange>()',
    'keys.filter((key) => isInRange(key, range))',
    'key.length * 3 > longestKeyBytes',
  ]
  expectNone(right.filter((line) => comparesKeys(line)))
})

/** Undocumented members of Node.js, symbols found by search, bindings, prototypes of its classes. */
const privateApis = new RegExp(
  [
    String.raw`\._[A-Za-z]`,
    // OpenID Connect claims have such names, too.
    String.raw`\[['"]_(?!claim_)[A-Za-z]`,
    String.raw`\b_(?:handle|init|httpMessage|parent|(?:read|writ)ableState|header(?:Sent)?|consum(?:ed|ing)|dump(?:ed)?|hadError|events|connections)\b`,
    String.raw`\bprocess\.binding\b|\binternalBinding\b|\bnode:internal|--expose-internals`,
    String.raw`\bHTTPParser\b|\bk(?:OnBody|OnExecute|OnMessageComplete|Stream|Socket|Handle|Session|Server|Connections)\b`,
    String.raw`\bgetOwnPropertySymbols\b`,
    String.raw`\b(?:(?:TLS)?Socket|Server|IncomingMessage|(?:Server|Outgoing)\w*(?:Response|Message)|Readable|Writable|Duplex|Http2\w+)\.prototype\b`,
  ].join('|'),
)

const usesPrivateApi = (line: string): boolean => !isComment(line) && privateApis.test(line.replace(/'\[-\._[^']*'/g, ''))

test('no private API of Node.js is used', () => {
  const problems = [...sourceFolders, 'bin', 'scripts', 'bench', 'test/kit'].flatMap((folder) =>
    readTexts(folder).flatMap(({ path, text }) =>
      lines(text).flatMap((line, i) => (usesPrivateApi(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    ),
  )
  expectNone(problems)
})

test('the check of private APIs finds examples', () => {
  const wrong = [
    'socket._handle?.readStop()',
    "const handle = socket['_handle']",
    'const { _writableState: state } = socket',
    'TLSSocket.prototype._init = init',
    'IncomingMessage.prototype.push = push',
    "process.binding('http_parser')",
    'parser[HTTPParser.kOnBody] = take',
    'parser[kOnExecute] = take',
    'Object.getOwnPropertySymbols(session).find(isHandle)',
    "import { kStream } from 'node:internal/http2/util'",
  ]
  expectNone(wrong.filter((line) => !usesPrivateApi(line)))
  const right = [
    'override _write(chunk: Buffer, _encoding: string, done: () => void): void {',
    'for (const [_name, value] of pairs) values.push(value)',
    'Object.prototype.toString.call(value)',
    "const keyPattern = '[-._a-zA-Z0-9]+'",
    '// socket._handle is private',
  ]
  expectNone(right.filter(usesPrivateApi))
})

const entryPoints = [
  'packages/api/src/resources/index.ts',
  'packages/server/src/assemble/index.ts',
  'packages/client/src/index.ts',
  'packages/client/src/browser.ts',
]

test('only the listed entry points re-export', () => {
  const isBarrel = ({ path, text }: SourceFile): boolean => {
    const exported = text.match(/^export\s/gm)?.length ?? 0
    const reExported = text.match(/^export\s+(?:type\s+)?(?:\*[^;\n]*?|\{[^}]*\})\s*from/gm)?.length ?? 0
    return basename(path) === 'index.ts' || /^export\s+\*/m.test(text) || (reExported > 0 && reExported === exported)
  }
  expectNone(files.filter((file) => isBarrel(file) && !entryPoints.includes(file.path)).map(({ path }) => path))
})

/** Files that may contain API names such as `k8s.io`: the identity defines them, and health checks have the same names in each identity. */
const identityFiles = ['packages/api/src/api/identity.ts', 'packages/server/src/http/diagnostics/health-checks.ts']

test('only the identity contains names of an identity', () => {
  const brand = /k8s\.io|kubernetes\.io|cluster\.io|\bkube-|application\/vnd\.(?:kubernetes|cluster)\b/
  // Comments compare this server with programs of Kubernetes, which have one name.
  const programs = /\bkube-(?:apiserver|controller-manager)\b/g
  const isBranded = (line: string): boolean => brand.test(isComment(line) ? line.replace(programs, '') : line)
  const problems = code
    .filter(({ path }) => !identityFiles.includes(path))
    .flatMap(({ path, text }) => lines(text).flatMap((line, i) => (isBranded(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])))
  expectNone(problems)
})

const maxFileLines = 400

/** Files that may have more lines, each with its reason. */
const longFiles: { readonly [path: string]: string } = {}

/** Files that import themselves through other files. */
function filesInCycles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const left = new Map(imports)
  for (let before = 0; before !== left.size; ) {
    before = left.size
    for (const [path, targets] of left) if (!targets.some((target) => left.has(target))) left.delete(path)
  }
  return [...left.keys()]
}

test('no import cycles, also not of types', () => {
  expectNone(filesInCycles(new Map(code.map((file) => [file.path, ownImports(file)]))))
  assert.deepEqual(
    filesInCycles(
      new Map([
        ['a', ['b']],
        ['b', ['a']],
        ['c', ['d']],
        ['d', []],
      ]),
    ),
    ['a', 'b'],
  )
})

const maxFilesPerFolder = 25

test('folders have at most 25 files', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: repoRoot, encoding: 'utf8', maxBuffer: 64 << 20 })
    .trim()
    .split('\n')
  const counts = new Map<string, number>()
  for (const path of tracked) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  expectNone([...counts].filter(([, count]) => count > maxFilesPerFolder).map(([folder, count]) => `${folder}: ${count} files`))
})

test('files have at most 400 lines', () => {
  const problems = files
    .filter(({ path }) => !path.endsWith('.schema.ts') && !(path in longFiles))
    .flatMap(({ path, text }) => (lines(text).length > maxFileLines + 1 ? [`${path}: ${lines(text).length - 1} lines`] : []))
  expectNone(problems)
})

test('functions of the composition root are short', () => {
  const text = lines(files.find(({ path }) => path === 'packages/server/src/assemble/assemble.ts')?.text ?? '')
  assert.ok(text.length > 1 && text.length < 200, `${text.length} lines`)
  const begins = text.flatMap((line, at) => (/^(?:export )?(?:async )?function /.test(line) ? [at] : []))
  const lengths = begins.map((at) => text.indexOf('}', at) - at + 1)
  assert.ok(lengths.length > 3 && Math.max(...lengths) <= 60, `functions of ${lengths.join(', ')} lines`)
})

test('file names are kebab-case', () => {
  expectNone(
    files
      .filter(({ path }) => !/^packages\/[a-z]+\/src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+(?:\.[a-z]+){0,2}\.tsx?$/.test(path))
      .map(({ path }) => path),
  )
})

/** Files that declare types of API kinds, among them `Service`. */
const namesKinds = (path: string): boolean => path.endsWith('.schema.ts') || path === 'packages/client/src/typed/types.ts'

test('no name ends in Manager, Helper, Util and the like, except terms of the API', () => {
  const name = /\b(?:class|interface)\s+(?!FieldManager|StoredAPIService)\w*(?:Manager|Helper|Util|Utils|Handler|Impl|Service)\b(?=[^\w])/
  expectNone(
    files.flatMap(({ path, text }) =>
      lines(text).flatMap((line) => (name.test(line) && !namesKinds(path) ? [`${path}: ${line.trim()}`] : [])),
    ),
  )
})

test('every file begins with a comment that says what it is', () => {
  for (const folder of [...sourceFolders, 'test', 'bench', 'packages/server/test', 'packages/client/test', 'packages/cli/test']) {
    expectNone(
      readFolder(folder)
        .filter(({ text }) => !/^\/\/ [^\n]*\S[^\n]*\n/.test(text))
        .map(({ path }) => path),
    )
  }
})

test('the import parser knows every import syntax', () => {
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

/** JavaScript and TypeScript files, tests included. */
function readTexts(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(`${repoRoot}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?[jt]s$/.test(name) || folder === 'bin')
    .filter((name) => statSync(`${repoRoot}${folder}/${name}`).isFile())
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(`${repoRoot}${folder}/${name}`, 'utf8') }))
}

function ownImports(file: SourceFile): readonly string[] {
  return file.imports.flatMap((name) => resolveImport(file, name) ?? [])
}

function lines(text: string): readonly string[] {
  return text.split('\n')
}

function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\*|\/\*)/.test(line)
}
