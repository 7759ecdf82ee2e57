// Entry point of a worker thread if the modules are not bundled; the bundle has its own.

import { serveTasks } from './run-step.js'

serveTasks()
