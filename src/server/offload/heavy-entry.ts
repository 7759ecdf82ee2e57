// Where the thread for heavy requests begins when the modules are not bundled; the bundle has an entry of its own.

import { serveHeavy } from './serve-heavy.js'

await serveHeavy()
