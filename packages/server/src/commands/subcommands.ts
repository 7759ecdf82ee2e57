// Names of the subcommands, in a separate file because the first script, which finds them, does not have their code.

const backupCommands = ['backup', 'restore', 'migrate'] as const

/** Commands that copy a store. */
export type BackupCommand = (typeof backupCommands)[number]

export const subcommands = [...backupCommands, 'admission', 'check', 'codec', 'credentials', 'envtest', 'testserver'] as const

export type Subcommand = (typeof subcommands)[number]
