// Finds the migrations of Ruby, PHP and Elixir: Rails, Laravel, Doctrine, Ecto. Each by its folder or configuration; see core/migration-tool.ts for what a finding holds.
import { folderOf, nameOf } from './facts.ts'
import {
  type FoundTool,
  foldersWith,
  hasCode,
  inFolder,
  type MigrationContext,
  pinnedQuestion,
  relativeTo,
} from './migration-tool.ts'
import { findPinnedSection } from './pinned-config.ts'

export function findServerTools(context: MigrationContext): FoundTool[] {
  return [...findRails(context), ...findLaravel(context), ...findDoctrine(context), ...findEcto(context)]
}

function findRails(context: MigrationContext): FoundTool[] {
  const folders = new Set(
    context.paths
      .filter(path => /(^|\/)db\/(migrate\/\d+_\w+|schema|structure)\.(rb|sql)$/.test(path))
      .map(path => path.replace(/\/?db\/(migrate\/)?[^/]+$/, '')),
  )
  return [...folders].flatMap(folder => {
    const near = (path: string) => inFolder(folder, path)
    const isRails = ['bin/rails', 'config/application.rb'].some(path =>
      context.facts.paths.includes(near(path)),
    )
    const gem = context.dependency(
      'ruby',
      /^(rails|activerecord|sinatra-activerecord|standalone_migrations)$/,
      folder,
    )
    // An engine's migrations are run by the application around it.
    const isAlone =
      gem !== undefined && context.facts.paths.includes(near('Rakefile')) && gem.folder === folder
    if (!isRails && !isAlone) return []
    const hasBinstub = context.facts.paths.includes(near('bin/rails'))
    const call = hasBinstub
      ? 'bin/rails'
      : isRails || gem?.name === 'rails'
        ? 'bundle exec rails'
        : 'bundle exec rake'
    const directory = context.paths.some(path => path.startsWith(`${near('db/migrate')}/`))
      ? near('db/migrate')
      : undefined
    const schema = ['db/schema.rb', 'db/structure.sql']
      .map(near)
      .filter(path => context.facts.paths.includes(path))
    const adapter = /adapter:\s*["']?(\w+)/.exec(context.text(near('config/database.yml')))?.[1]
    const database =
      adapter === 'postgresql'
        ? 'postgres'
        : adapter === 'sqlite3'
          ? 'sqlite'
          : adapter?.startsWith('mysql') || adapter === 'trilogy'
            ? 'mysql'
            : undefined
    return [
      {
        tool: 'rails',
        ecosystem: 'ruby',
        folder,
        directory,
        config: context.facts.paths.includes(near('config/database.yml'))
          ? near('config/database.yml')
          : undefined,
        command: `${call} db:migrate`,
        seed: hasCode(context.text(near('db/seeds.rb'))) ? `${call} db:seed` : undefined,
        applies: /\b(rails|rake)\b[^\n;&|]*\bdb:(migrate|prepare)(?![:\w])/,
        schema,
        database,
        evidence: [
          context.at(
            schema[0] ??
              context.paths.find(path => directory !== undefined && path.startsWith(`${directory}/`)) ??
              near('Gemfile'),
            'ActiveRecord',
          ),
        ],
      },
    ]
  })
}

function findLaravel(context: MigrationContext): FoundTool[] {
  return context.paths
    .filter(path => nameOf(path) === 'artisan')
    .flatMap(artisan => {
      const folder = folderOf(artisan)
      const directory = inFolder(folder, 'database/migrations')
      const first = context.paths.find(path => path.startsWith(`${directory}/`))
      if (first === undefined) return []
      const seeder = inFolder(folder, 'database/seeders/DatabaseSeeder.php')
      return [
        {
          tool: 'laravel',
          ecosystem: 'php',
          folder,
          directory,
          config: artisan,
          command: 'php artisan migrate --no-interaction',
          seed: context.facts.paths.includes(seeder) ? 'php artisan db:seed --no-interaction' : undefined,
          applies: /\bartisan\b[^\n;&|]*\bmigrate(?![:\w])/,
          evidence: [context.at(first, 'Migration')],
        },
      ]
    })
}

function findDoctrine(context: MigrationContext): FoundTool[] {
  const bundle = context.dependency('php', /^doctrine\/(doctrine-migrations-bundle|migrations)$/)
  if (bundle === undefined) return []
  const folder = bundle.folder
  const folders = [...foldersWith(context, /(^|\/)(Version\d+|\w*Migration\w*)\.php$/).keys()].filter(
    one => folder === '' || one.startsWith(`${folder}/`),
  )
  const config = [
    'config/packages/doctrine_migrations.yaml',
    'migrations.php',
    'migrations.yml',
    'migrations.json',
  ]
    .map(one => inFolder(folder, one))
    .find(one => context.facts.paths.includes(one))
  if (folders.length === 0 && config === undefined) return []
  const isSymfony = context.facts.paths.includes(inFolder(folder, 'bin/console'))
  const hasFixtures = context.dependency('php', /^doctrine\/doctrine-fixtures-bundle$/) !== undefined
  return [
    {
      tool: 'doctrine',
      ecosystem: 'php',
      folder,
      directory: folders[0],
      config,
      command: isSymfony
        ? 'php bin/console doctrine:migrations:migrate --no-interaction --allow-no-migration'
        : 'vendor/bin/doctrine-migrations migrate --no-interaction --allow-no-migration',
      // Without --append it empties the database first, which is only this environment's, but surprises a person.
      seed:
        isSymfony && hasFixtures
          ? 'php bin/console doctrine:fixtures:load --append --no-interaction'
          : undefined,
      applies: /\bdoctrine:migrations:migrate\b|\bdoctrine-migrations migrate\b|\bd:m:m\b/,
      evidence: [context.at(bundle.file, bundle.name)],
    },
  ]
}

function findEcto(context: MigrationContext): FoundTool[] {
  const repos = [...foldersWith(context, /(^|\/)priv\/\w+\/migrations\/\d+_\w+\.exs$/)]
  const seen = new Set<string>()
  return repos.flatMap(([directory, first]) => {
    const app = context.projectOf(directory, /(^|\/)mix\.exs$/)
    // In an umbrella the command of the root serves every app.
    const umbrella = context.projectOf(app === '' ? '' : `${folderOf(app)}/x`, /(^|\/)mix\.exs$/)
    const folder = /apps_path:/.test(context.text(inFolder(umbrella, 'mix.exs'))) ? umbrella : app
    if (seen.has(folder) || !/ecto/.test(context.text(inFolder(app, 'mix.exs')))) return []
    seen.add(folder)
    const settings = context.facts.files.get(inFolder(folder, 'config/dev.exs'))
    // runtime.exs reads DATABASE_URL for production; in development this section decides.
    const line =
      settings &&
      findPinnedSection(settings, /^config\s+:\w+,\s*[\w.]*Repo\b/m, /^\S/m, /\b(?:database|url):\s*"/)
    const seeds = inFolder(app, `${relativeTo(app, folderOf(directory))}/seeds.exs`)
    return [
      {
        tool: 'ecto',
        ecosystem: 'elixir',
        folder,
        directory,
        config: undefined,
        command: 'mix ecto.migrate',
        ...(line === undefined || settings === undefined
          ? {}
          : { question: pinnedQuestion('Ecto', settings.path, line) }),
        seed:
          hasCode(context.text(seeds)) || (context.facts.paths.includes(seeds) && context.text(seeds) === '')
            ? `mix run ${relativeTo(folder, seeds)}`
            : undefined,
        applies: /\bmix ecto\.migrate\b/,
        evidence: [context.at(first, 'Migration')],
      },
    ]
  })
}
