import { SignalboxError } from 'signalbox'
import type { ClientLike } from './options.ts'
import { transaction } from './transaction.ts'

/** Each entry leads from one version to the next. Released entries never change. `$schema` is replaced. */
const migrations = [
  `create table $schema.sessions (
     session text primary key,
     name text not null,
     records integer not null,
     bytes bigint not null,
     status text not null,
     questions text not null,
     owner text,
     token text,
     lock integer,
     created_at bigint not null,
     updated_at bigint not null,
     touched timestamptz not null default now()
   );
   create table $schema.records (
     session text not null references $schema.sessions on delete cascade,
     n integer not null,
     at bigint not null,
     body text not null,
     primary key (session, n)
   );
   create table $schema.notes (
     session text not null references $schema.sessions on delete cascade,
     key text not null,
     place bigint generated always as identity,
     token text not null,
     body text not null,
     is_copied boolean not null default false,
     primary key (session, key)
   )`,
  `alter table $schema.sessions add column outer_session text references $schema.sessions on delete cascade;
   create index sessions_outer on $schema.sessions (outer_session)`,
  // a foreign key would look up the session at each append, which has just locked it
  `alter table $schema.records drop constraint records_session_fkey;
   create function $schema.remove_records() returns trigger language plpgsql as $$
   begin
     delete from $schema.records where session = old.session;
     return null;
   end $$;
   create trigger remove_records after delete on $schema.sessions for each row
     execute function $schema.remove_records()`,
]

/** Brings the tables to this version. Any number of processes may do so at once. */
export async function migrate(client: ClientLike, schema: string): Promise<void> {
  if ((await versionOf(client, schema)) === migrations.length) return
  await transaction(client, async () => {
    await client.query({ text: 'select pg_advisory_xact_lock(hashtext($1))', values: [`signalbox ${schema}`] })
    // "if not exists" needs the right to create schemas even if there is one
    const found = await client.query({ text: 'select to_regnamespace($1) is not null as found', values: [schema] })
    if (found.rows[0]?.found !== true) await client.query({ text: `create schema ${schema}` })
    await client.query({ text: `create table if not exists ${schema}.migrations (version integer primary key)` })
    for (let version = await versionOf(client, schema); version < migrations.length; version++) {
      await client.query({ text: (migrations[version] as string).replaceAll('$schema', schema) })
      await client.query({ text: `insert into ${schema}.migrations values ($1)`, values: [version + 1] })
    }
  })
}

async function versionOf(client: ClientLike, schema: string): Promise<number> {
  const table = `${schema}.migrations`
  const found = await client.query({ text: 'select to_regclass($1) is not null as found', values: [table] })
  if (found.rows[0]?.found !== true) return 0
  const { rows } = await client.query({ text: `select coalesce(max(version), 0) as version from ${table}` })
  const version = Number(rows[0]?.version)
  if (version <= migrations.length) return version
  throw new SignalboxError(
    'journal_newer',
    `The tables in schema ${schema} have version ${version}; this @signalbox/postgres knows up to version ${migrations.length}. Update it.`,
  )
}
