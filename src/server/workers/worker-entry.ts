// The entry point of a worker thread when the modules are not bundled; the bundle has an entry of its own.

import { serveTasks } from './serve-tasks.js'

serveTasks()
