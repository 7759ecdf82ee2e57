// Joins the compiled modules into a few files, because reading hundreds of small ones is most of what a start would cost: one script for the
// command, with its code cache, and modules for whoever embeds the server. In these, what is imported on demand stays in files of its own.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

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
  build({ ...common, entryPoints: ['dist/server/index.js'], outdir, splitting: true, format: 'esm', packages: 'external' }),
  build({
    ...common,
    entryPoints: ['dist/server/main.js'],
    outfile: command,
    format: 'cjs',
    external: ['pino', 'prom-client'],
    // A script that comes from a code cache cannot import; what is loaded on demand is required then.
    supported: { 'dynamic-import': false },
    // As if it was loaded by require: that build of the package is one file.
    conditions: ['require'],
    mainFields: ['main'],
    plugins: [embeddedStore],
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
