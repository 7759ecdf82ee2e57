// Joins the compiled modules into a few files, because reading hundreds of small ones is most of what a start would cost: one script for the
// command, with its code cache, and modules for whoever embeds the server. In these, what is imported on demand stays in files of its own.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
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
const common = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' }

/** The package of the embedded store, which every start loads. It looks for its library beside its own file. */
const embeddedStore = {
  name: 'embedded store',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]lmdb[\\/]dist[\\/]index\.cjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__filename', "require.resolve('lmdb')"),
    })),
}

rmSync(outdir, { recursive: true, force: true })
await Promise.all([
  build({
    ...common,
    // The thread for heavy requests is started from a file of its own, by the command as well.
    entryPoints: { index: 'dist/server/index.js', 'heavy-entry': 'dist/server/offload/heavy-entry.js' },
    outdir,
    splitting: true,
    format: 'esm',
    packages: 'external',
    plugins: [stamp],
  }),
  build({
    ...common,
    entryPoints: ['dist/server/main.js'],
    outfile: command,
    format: 'cjs',
    external: ['pino'],
    // A script that comes from a code cache cannot import; what is loaded on demand is required then.
    supported: { 'dynamic-import': false },
    // As if it was loaded by require: that build of the package is one file.
    conditions: ['require'],
    mainFields: ['main'],
    plugins: [embeddedStore, stamp],
    logOverride: { 'require-resolve-not-external': 'silent' },
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
  }),
])
// V8 knows a cache that belongs to another text by its length alone, so the text is given a name that its cache bears.
const text = readFileSync(command)
writeFileSync(command, `// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n${text}`)
try {
  execFileSync(process.execPath, ['scripts/write-code-cache.cjs'], { stdio: 'inherit', timeout: 60_000 })
} catch (error) {
  console.error(`without a code cache, which makes starts quick: ${error.message}`)
}
