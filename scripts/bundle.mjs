// Bundles the compiled modules, because loading a thousand small files would dominate the start. `server.js` and `clusterctl.js` also
// get a code cache (scripts/write-code-cache.cjs).

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The commit; undefined outside of a clone, and when the package is in the clone of another project. */
function commitInfo() {
  try {
    if (realpathSync(git('rev-parse', '--show-toplevel')) !== realpathSync('.')) return undefined
    const [commit, seconds] = git('show', '--no-patch', '--format=%H %ct', 'HEAD').split(' ')
    // The time of the commit, not of the build: builds are reproducible.
    const date = new Date(Number(seconds) * 1000).toISOString().replace('.000', '')
    return { commit, treeState: git('status', '--porcelain') === '' ? 'clean' : 'dirty', date }
  } catch {
    return undefined
  }
}

const outdir = 'dist/bundle'
const common = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning', metafile: true }

const importMetaUrl = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;"
/** The parameters of a CommonJS module, for scripts that bin/load.js runs: added here, the text is not copied at the start. */
const wrapper = { banner: { js: `(function (exports, require, module, __filename, __dirname) {${importMetaUrl}` }, footer: { js: '})' } }

/** A CommonJS script. Commands that are larger than the rest, and rarely used, are scripts of their own. */
const script = (name, entry, { external = [], ...options } = {}) =>
  build({
    ...common,
    ...entry,
    outfile: `${outdir}/${name}.js`,
    // Reading the text is part of every start.
    minifyWhitespace: true,
    format: 'cjs',
    // lmdb finds its native library next to its own files; undici is large, and loaded by the first outbound request.
    external: ['lmdb', 'undici', ...external],
    // node:vm scripts have no import().
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'importMetaUrl', BUILD_INFO: JSON.stringify(commitInfo()) ?? 'undefined' },
    banner: { js: importMetaUrl },
    ...options,
  })

/** Resolves an import to a path; plugins that match it again skip it. */
const resolved = (build, { path, ...from }) => build.resolve(path, { ...from, kind: from.kind, pluginData: 'resolved' })

const workloads = 'controllers/workloads'
/** Modules that the workload controllers share with the server: a copy would have other classes and caches. */
const sharedModules = new Map()

/** Imports of modules outside of the folder become members of the parameter `shared`. */
const fromServer = {
  name: 'from-server',
  setup(build) {
    build.onResolve({ filter: /^(?:\.|@cluster-apiserver\/)/ }, async (found) => {
      if (found.pluginData === 'resolved' || found.kind === 'entry-point') return undefined
      const { path, errors } = await resolved(build, found)
      if (errors.length > 0 || path.includes(`/${workloads}/`)) return { path, errors }
      if (!sharedModules.has(path)) sharedModules.set(path, sharedModules.size)
      return { path, namespace: 'shared' }
    })
    build.onLoad({ filter: /.*/, namespace: 'shared' }, ({ path }) => ({ contents: `module.exports = shared[${sharedModules.get(path)}]` }))
  },
}

/** The server loads the script of the workload controllers, which few servers need, and passes the shared modules. */
const withoutWorkloads = {
  name: 'without-workloads',
  setup(build) {
    build.onResolve({ filter: /\/start-workloads\.js$/ }, () => ({ path: 'workloads', namespace: 'workloads' }))
    build.onResolve({ filter: /^\.\/workloads\.js$/ }, ({ path }) => ({ path, external: true }))
    build.onLoad({ filter: /.*/, namespace: 'workloads' }, () => {
      const paths = [...sharedModules.keys()]
      const imports = paths.map((path, i) => `import * as m${i} from ${JSON.stringify(path)}`)
      const parameter = `[${paths.map((_, i) => `m${i}`).join(', ')}]`
      const contents = `${imports.join('\n')}\nexport const { newNodes, readSimulation, simulatedBackends, simulatedUsage, startWorkloads } = require('./workloads.js')(${parameter})`
      return { contents, resolveDir: 'packages/server/dist' }
    })
  },
}

const entryOf = (path) => ({ entryPoints: [path] })

const serverEntry = {
  stdin: {
    contents: `
      export { runSubcommand, serve } from './commands/serve.js'
      export { startServer } from './assemble/index.js'
      export { serveTasks } from './threads/run-step.js'`,
    resolveDir: 'packages/server/dist',
  },
}

rmSync(outdir, { recursive: true, force: true })
// First, because the server passes the modules that it imports.
const workloadScript = await script('workloads', entryOf(`packages/server/dist/${workloads}/start-workloads.js`), {
  plugins: [fromServer],
  banner: { js: 'module.exports = (shared) => { const module = { exports: {} };' },
  footer: { js: 'return module.exports }' },
})
const results = await Promise.all([
  script('main', entryOf('packages/server/dist/commands/main.js')),
  script('server', serverEntry, { external: ['*/codec-command.js'], plugins: [withoutWorkloads], ...wrapper }),
  script('codec-command', entryOf('packages/server/dist/commands/codec-command.js')),
  script('clusterctl', entryOf('packages/cli/dist/main.js'), { external: ['*/local-patch.js'], ...wrapper }),
  script('local-patch', entryOf('packages/cli/dist/commands/write/local-patch.js')),
  // The client library; its first WebSocket loads ws, by require() where Jest cannot import.
  build({ ...common, ...entryOf('packages/client/dist/index.js'), outfile: `${outdir}/client.mjs`, format: 'esm', external: ['ws'] }),
  build({
    ...common,
    ...entryOf('packages/client/dist/index.js'),
    outfile: `${outdir}/client.cjs`,
    format: 'cjs',
    external: ['ws'],
    supported: { 'dynamic-import': false },
  }),
  // For require() where a browser is meant, as in Jest with jsdom.
  build({ ...common, ...entryOf('packages/client/dist/browser.js'), outfile: `${outdir}/browser.cjs`, format: 'cjs' }),
])

const consoleFolder = 'dist/console'

/** The console: a script and a style whose names contain a hash of their content, and a page that names them. */
async function bundleConsole() {
  const source = 'packages/console'
  rmSync(consoleFolder, { recursive: true, force: true })
  const result = await build({
    entryPoints: { app: `${source}/dist/main.js`, style: `${source}/static/style.css` },
    outdir: consoleFolder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    // Large parts that one page needs are loaded by that page.
    splitting: true,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    minify: true,
    logLevel: 'warning',
    metafile: true,
  })
  const names = Object.keys(result.metafile.outputs).map((path) => basename(path))
  const page = readFileSync(`${source}/static/index.html`, 'utf8').replaceAll(/(app|style)\.(js|css)/g, (found, name, ending) => {
    const hashed = names.find((each) => each.startsWith(`${name}-`) && each.endsWith(`.${ending}`))
    if (hashed === undefined) throw new Error(`the console has no ${found}`)
    return hashed
  })
  mkdirSync(consoleFolder, { recursive: true })
  writeFileSync(`${consoleFolder}/index.html`, page)
  cpSync(`${source}/static/icon.svg`, `${consoleFolder}/icon.svg`)
  for (const name of names) writeFileSync(`${consoleFolder}/${name}.gz`, gzipSync(readFileSync(`${consoleFolder}/${name}`), { level: 9 }))
  return result
}
results.push(await bundleConsole())

/** The licences of the bundled packages. */
function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
  const texts = [...packages].sort().map((name) => {
    const folder = `node_modules/${name}`
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const { license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    return `${name} (${license})\n\n${file === undefined ? '' : `${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`}`
  })
  return `Licences of the packages that are part of these files.\n\n${texts.join('\n---\n\n')}`
}

writeFileSync(`${outdir}/LICENCES.txt`, licencesOf([workloadScript, ...results].flatMap(({ metafile }) => Object.keys(metafile.inputs))))
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n')
writeFileSync(`${outdir}/worker-entry.js`, "require('../../bin/load.js').load('server').serveTasks()\n")
execFileSync(process.execPath, ['scripts/write-code-cache.cjs'], { stdio: 'inherit', timeout: 120_000 })

// `clusterctl` is published alone, too: its package gets the same command and the same scripts.
const cli = 'packages/cli'
for (const name of ['clusterctl', 'load.js', 'package.json']) cpSync(`bin/${name}`, `${cli}/bin/${name}`)
for (const name of ['clusterctl.js', 'clusterctl.cache', 'local-patch.js', 'LICENCES.txt', 'package.json'])
  cpSync(`${outdir}/${name}`, `${cli}/${outdir}/${name}`)
