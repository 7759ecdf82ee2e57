// Joins the compiled modules into one script with its code cache, because to read and compile hundreds of small ones is most of what a start would
// cost. The command, the worker threads and programs that embed the server, by `import` or by `require`, all load that one.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'

const git = (...words) => execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** From which commit this is built; undefined outside of a clone, and where the package lies in the clone of another project. */
function commitInfo() {
  try {
    if (realpathSync(git('rev-parse', '--show-toplevel')) !== realpathSync('.')) return undefined
    const [commit, seconds] = git('show', '--no-patch', '--format=%H %ct', 'HEAD').split(' ')
    // The time of the commit and not of the build, so that the same commit always becomes the same files.
    const date = new Date(Number(seconds) * 1000).toISOString().replace('.000', '')
    return { commit, treeState: git('status', '--porcelain') === '' ? 'clean' : 'dirty', date }
  } catch {
    return undefined
  }
}

const info = commitInfo()
const stamp = {
  name: 'stamp',
  setup: ({ onLoad }) => {
    if (info === undefined) return
    onLoad({ filter: /[\\/]http[\\/]build-info\.js$/ }, () => ({ contents: `export const buildInfo = ${JSON.stringify(info)}` }))
  },
}

const outdir = 'dist/bundle'
const command = `${outdir}/command.cjs`
const client = `${outdir}/clusterctl.cjs`
const common = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' }

/** Says where the package lies. `require.resolve` looks at its exports, too, which takes 4 ms. */
const ownFile = `
var foundFile
function ownFile() {
  const { existsSync, realpathSync } = require('node:fs')
  const find = () => require.resolve.paths('lmdb').map((folder) => folder + '/lmdb/dist/index.cjs').find((file) => existsSync(file))
  return (foundFile ??= realpathSync(find() ?? require.resolve('lmdb')))
}
`

/**
 * Finds the library where npm puts it. A library that was compiled on this machine, or is meant for another C library, program or platform, is found by the
 * package that looks everywhere, which takes 5 ms.
 */
const ownLibrary = `
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { env, platform, arch, versions } = process
const asked = ['LIBC', 'LMDB_PREBUILD', 'PREBUILDS_ONLY', 'npm_config_arch', 'npm_config_platform', 'ELECTRON_RUN_AS_NODE']
const loaders = { x64: '/lib/ld-musl-x86_64.so.1', arm64: '/lib/ld-musl-aarch64.so.1' }
const isUsual = () =>
  platform === 'linux' && arch in loaders && !existsSync(loaders[arch]) && !versions.electron && !versions.nw && asked.every((name) => !env[name])
module.exports = (folder) => {
  const library = join(folder, '..', '@lmdb', 'lmdb-linux-' + arch, 'node.abi' + versions.modules + '.glibc.node')
  if (isUsual() && !existsSync(join(folder, 'build')) && existsSync(library)) return require(library)
  return require('node-gyp-build-optional-packages/node-gyp-build.js')(folder)
}
`

/** The package of the embedded store, which every start loads. It looks for its library beside its own file, and brings a serialiser that is not used. */
const embeddedStore = {
  name: 'embedded store',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(?:msgpackr|node-gyp-build-optional-packages)$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'instead',
      pluginData: resolveDir,
    }))
    onLoad({ filter: /^msgpackr$/, namespace: 'instead' }, () => ({ contents: 'exports.Encoder = undefined' }))
    onLoad({ filter: /^node-gyp/, namespace: 'instead' }, ({ pluginData }) => ({ contents: ownLibrary, resolveDir: pluginData }))
    onLoad({ filter: /[\\/]lmdb[\\/]dist[\\/]index\.cjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__filename', 'ownFile()') + ownFile,
    }))
  },
}

/** Modules of the platform that a server needs after its start, if at all: together they take longer to load than many a room of ours. */
const laterModules = ['child_process', 'dns/promises', 'fs/promises', 'http2', 'timers/promises', 'v8', 'worker_threads', 'zlib']

/** Stands for such a module, and loads it when something of it is asked for. */
const laterModule = (loading, exported) => `
  let loaded
  const load = () => (loaded ??= ${loading})
  module.exports = {
    ${exported.map((each) => `get ${each}() { return load().${each} },`).join('\n    ')}
  }
`

/** What patterns of users are read with, a twentieth of the server's text: a script of its own, which the first of them loads. */
const patterns = 're2js'
/** With its code cache: it would hold others for 13 ms otherwise. */
const loader = '../../bin/load-command.js'
const loadPatterns = `require('${loader}').loadLater('${patterns}').exports`

const loadLater = {
  name: 'load later',
  setup: ({ onResolve, onLoad }) => {
    // What stands for a module asks for the real one.
    onResolve({ filter: new RegExp(`^(?:node:)?(?:${laterModules.join('|')}|${patterns})$`) }, ({ path, namespace, kind }) =>
      namespace === 'later' || kind === 'entry-point' ? undefined : { path: path.replace('node:', ''), namespace: 'later' },
    )
    onLoad({ filter: /.*/, namespace: 'later' }, async ({ path }) => {
      const exported = Object.keys(await import(path)).filter((name) => name !== 'default')
      return { contents: laterModule(path === patterns ? loadPatterns : `require('node:${path}')`, exported), loader: 'js' }
    })
  },
}

/** What one command of the client needs, and is larger than all of them: scripts of their own, which the others do not read. */
const largeParts = { 'local-patch': 'dist/cli/local-patch.js' }

/** What one command of the server needs, and asks for every schema by its name: to give them names would take longer than the rest of its modules. */
const namedSchemas = { 'codec-schemas': 'dist/server/codec-schemas.js' }

const apart = (parts) => ({
  name: 'apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`(?:^|[\\\\/])(?:${Object.keys(parts).join('|')})(?:\\.js)?$`) }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: `./${basename(path, '.js')}.cjs`, external: true },
    ),
})

/** What the script exports, and to whom. */
const entry = `
  export { main } from './main.js'
  export { serveTasks } from './workers/serve-tasks.js'
  export { startServer } from './index.js'
  export { prepareObjects } from './prepare-objects.js'
  export { platformFlags } from './platform-flags.js'
`

const scriptOptions = {
  ...common,
  // To read the text is a part of every start.
  minifyWhitespace: true,
  format: 'cjs',
  external: [loader],
  // A script that comes from a code cache cannot import; what is loaded on demand is required then.
  supported: { 'dynamic-import': false },
  // As if it was loaded by require: that build of the package is one file.
  conditions: ['require'],
  mainFields: ['main'],
  plugins: [embeddedStore, loadLater, stamp],
  logOverride: { 'require-resolve-not-external': 'silent' },
  define: { 'import.meta.url': 'ownUrl' },
  banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
}

rmSync(outdir, { recursive: true, force: true })
const bundles = await Promise.all([
  build({
    ...scriptOptions,
    metafile: true,
    plugins: [...scriptOptions.plugins, apart(namedSchemas)],
    stdin: { contents: entry, resolveDir: 'dist/server', sourcefile: 'entry.js' },
    outfile: command,
  }),
  build({
    ...scriptOptions,
    metafile: true,
    plugins: [...scriptOptions.plugins, apart(largeParts)],
    entryPoints: ['dist/cli/main.js'],
    outfile: client,
  }),
  ...Object.entries({ ...largeParts, ...namedSchemas, [patterns]: patterns }).map(([name, path]) =>
    build({
      ...scriptOptions,
      metafile: true,
      plugins: [loadLater, apart(largeParts)],
      entryPoints: [path],
      outfile: `${outdir}/${name}.cjs`,
    }),
  ),
])

/** The client, too: many small modules take longer to load, and more memory, than the requests of a short program. */
const library = { ...common, entryPoints: ['dist/client/index.js'] }
await Promise.all([
  build({ ...library, outfile: `${outdir}/client.mjs`, format: 'esm' }),
  build({ ...library, outfile: `${outdir}/client.cjs`, format: 'cjs' }),
  // For who requires it where a browser is meant, as Jest with jsdom does.
  build({ ...common, entryPoints: ['dist/client/browser.js'], outfile: `${outdir}/browser.cjs`, format: 'cjs' }),
])

/** The types of the client for who requires it. What is a class is a type, too, and only types can be taken from a module here. */
async function declareClient() {
  const values = await import('../dist/bundle/client.mjs')
  const texts = readdirSync('dist/client', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(`dist/client/${name}`, 'utf8'))
  const typeOf = (name) => {
    const [, parameters] =
      texts.map((text) => new RegExp(`^export declare class ${name}(<[^{]*>)?[ {]`, 'm').exec(text)).find(Boolean) ?? []
    const names = [...(parameters ?? '').matchAll(/[<,] *(\w+)/g)].map(([, each]) => each).join(', ')
    const known = parameters?.replaceAll(/(?<=extends |= )\w+/g, 'client.$&') ?? ''
    return `export type ${name}${known} = client.${name}${names === '' ? '' : `<${names}>`}\n`
  }
  const isClass = (value) => typeof value === 'function' && Function.prototype.toString.call(value).startsWith('class')
  const declared = Object.entries(values).map(
    ([name, value]) => `export declare const ${name}: typeof client.${name}\n${isClass(value) ? typeOf(name) : ''}`,
  )
  const from = "from '../client/index.js' with { 'resolution-mode': 'import' }"
  return `import type * as client ${from}\nexport type * ${from}\n${declared.join('')}`
}

/** Packages of others whose code is in the scripts; their licences go with it. */
function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  const texts = [...packages].sort().map((name) => {
    const folder = `node_modules/${name}`
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const { license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    return `${name} (${license})\n\n${file === undefined ? '' : `${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`}`
  })
  return `Licences of the packages that are part of these files.\n\n${texts.join('\n---\n\n')}`
}

/** The few lines around it; in this folder, what ends in `.js` is no module. */
const files = {
  'LICENCES.txt': licencesOf(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs))),
  'package.json': '{ "type": "commonjs" }\n',
  'worker-entry.js': "require('../../bin/load-command.js').loadCommand().exports.serveTasks()\n",
  'index.cjs': `const { loadCommand } = require('../../bin/load-command.js')
exports.startServer = loadCommand().exports.startServer
`,
  // The same instance, whichever way it is loaded.
  'index.mjs': `import bundle from './index.cjs'
export const startServer = bundle.startServer
`,
  'index.d.cts': `import type * as server from '../server/index.js' with { 'resolution-mode': 'import' }
export type * from '../server/index.js' with { 'resolution-mode': 'import' }
export declare const startServer: typeof server.startServer
`,
  'client.d.cts': await declareClient(),
}
mkdirSync(outdir, { recursive: true })
for (const [name, text] of Object.entries(files)) writeFileSync(`${outdir}/${name}`, text)
/**
 * What is around each module is an object with the module's path as its only key. A thousand objects that differ in their first key are the slowest
 * that there is for V8, so all have the same key. Each module gets a line, so that a stack says where in the text it was.
 */
const modulesAlike = (text) => text.replaceAll(/\bvar (\w+)=__(esm|commonJS)\(\{"[^"\n]+"\(/g, '\nvar $1=__$2({load(')

for (const script of [command, client, `${outdir}/${patterns}.cjs`]) {
  const text = modulesAlike(readFileSync(script, 'latin1'))
  // They are read as ASCII, which is quicker; esbuild escapes what is more than that, but for patterns.
  const at = /[^\0-\x7f]/.exec(text)?.index ?? -1
  if (at >= 0)
    throw new Error(`${script} is not all ASCII; escape it in the source: ${text.slice(text.lastIndexOf('\n', at) + 1, at + 40)}`)
  // V8 knows a cache that belongs to another text by its length alone, so the text is given a name that its cache bears. The function around
  // it is written here, too: to put a text of this size together is to copy it.
  const name = createHash('sha256').update(text).digest('hex').slice(0, 16)
  writeFileSync(script, `// ${name}\n(function (exports, require, module, __filename, __dirname) {\n${text}\n})\n`)
}
execFileSync(process.execPath, ['scripts/write-start-objects.cjs'], { stdio: 'inherit', timeout: 300_000 })
try {
  execFileSync(process.execPath, ['scripts/write-code-cache.cjs'], { stdio: 'inherit', timeout: 300_000 })
} catch (error) {
  console.error(`without a code cache, which makes starts quick: ${error.message}`)
}
