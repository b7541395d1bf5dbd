CREATE TABLE "postrider"."campaigns" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"status" text DEFAULT 'draft' NOT NULL,
	"list_id" uuid NOT NULL,
	"template_id" uuid NOT NULL,
	"template_version" integer,
	"sender_id" uuid NOT NULL,
	"from_name" text,
	"from_address" text,
	"reply_to" text,
	"batch_size" integer NOT NULL,
	"hourly_limit" integer,
	"follow_pace" boolean DEFAULT false NOT NULL,
	"scheduled_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"last_cursor" uuid,
	"last_batch_at" timestamp with time zone,
	"planned_at" timestamp with time zone,
	"planned" integer DEFAULT 0 NOT NULL,
	"unsubscribed" integer DEFAULT 0 NOT NULL,
	"suppressed" integer DEFAULT 0 NOT NULL,
	"sampled_at" timestamp with time zone,
	"sampled_sent" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "campaigns_status" CHECK (status in ('draft', 'scheduled', 'running', 'paused', 'sent', 'canceled')),
	CONSTRAINT "campaigns_batch_size" CHECK (batch_size between 1 and 10000),
	CONSTRAINT "campaigns_hourly_limit" CHECK (hourly_limit > 0),
	CONSTRAINT "campaigns_frozen" CHECK (status = 'draft' or (template_version is not null and from_address is not null)),
	CONSTRAINT "campaigns_counts" CHECK (planned >= 0 and unsubscribed >= 0 and suppressed >= 0),
	CONSTRAINT "campaigns_finished" CHECK ((status in ('sent', 'canceled')) = (finished_at is not null))
);

CREATE TABLE "postrider"."contacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"address" text NOT NULL,
	"folded_address" text NOT NULL,
	"name" text,
	"attributes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"timezone" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contacts_attributes" CHECK (jsonb_typeof(attributes) = 'object')
);

CREATE TABLE "postrider"."imports" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"list_id" uuid NOT NULL,
	"status" text NOT NULL,
	"rows_read" integer DEFAULT 0 NOT NULL,
	"created" integer DEFAULT 0 NOT NULL,
	"updated" integer DEFAULT 0 NOT NULL,
	"joined" integer DEFAULT 0 NOT NULL,
	"repeated" integer DEFAULT 0 NOT NULL,
	"opted_out" integer DEFAULT 0 NOT NULL,
	"refused" integer DEFAULT 0 NOT NULL,
	"problems" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"failure" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "imports_status" CHECK (status in ('running', 'done', 'failed')),
	CONSTRAINT "imports_failure" CHECK ((status = 'failed') = (failure is not null))
);

CREATE TABLE "postrider"."list_members" (
	"list_id" uuid NOT NULL,
	"contact_id" uuid NOT NULL,
	"joined_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "list_members_list_id_contact_id_pk" PRIMARY KEY("list_id","contact_id")
);

CREATE TABLE "postrider"."lists" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE "postrider"."opt_outs" (
	"list_id" uuid NOT NULL,
	"address" text NOT NULL,
	"source" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "opt_outs_list_id_address_pk" PRIMARY KEY("list_id","address")
);

CREATE TABLE "postrider"."sender_days" (
	"sender_id" uuid NOT NULL,
	"day" date NOT NULL,
	"booked" integer DEFAULT 0 NOT NULL,
	"sent" integer DEFAULT 0 NOT NULL,
	"last_slot_at" timestamp with time zone,
	CONSTRAINT "sender_days_sender_id_day_pk" PRIMARY KEY("sender_id","day"),
	CONSTRAINT "sender_days_counts" CHECK (booked >= 0 and sent >= 0)
);

CREATE TABLE "postrider"."template_versions" (
	"template_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"subject" text NOT NULL,
	"html" text,
	"text" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "template_versions_template_id_version_pk" PRIMARY KEY("template_id","version"),
	CONSTRAINT "template_versions_body" CHECK (html is not null or text is not null),
	CONSTRAINT "template_versions_version" CHECK (version > 0)
);

CREATE TABLE "postrider"."templates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE "postrider"."lanes" ADD COLUMN "held_with" uuid;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "contact_id" uuid;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "booked_on" date;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "in_doubt" boolean DEFAULT false NOT NULL;
ALTER TABLE "postrider"."scheduled_actions" ADD COLUMN "ended_unsent" boolean GENERATED ALWAYS AS (state in ('canceled', 'skipped', 'expired', 'dismissed')) STORED NOT NULL;
ALTER TABLE "postrider"."senders" ADD COLUMN "pace" jsonb;
ALTER TABLE "postrider"."senders" ADD COLUMN "ramp_up_from" date;
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "postrider"."lists"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."campaigns" ADD CONSTRAINT "campaigns_template_version" FOREIGN KEY ("template_id","template_version") REFERENCES "postrider"."template_versions"("template_id","version") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."contacts" ADD CONSTRAINT "contacts_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."imports" ADD CONSTRAINT "imports_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "postrider"."lists"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."list_members" ADD CONSTRAINT "list_members_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "postrider"."lists"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."list_members" ADD CONSTRAINT "list_members_contact_id_contacts_id_fk" FOREIGN KEY ("contact_id") REFERENCES "postrider"."contacts"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."lists" ADD CONSTRAINT "lists_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "postrider"."opt_outs" ADD CONSTRAINT "opt_outs_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "postrider"."lists"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."sender_days" ADD CONSTRAINT "sender_days_sender_id_senders_id_fk" FOREIGN KEY ("sender_id") REFERENCES "postrider"."senders"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."template_versions" ADD CONSTRAINT "template_versions_template_id_templates_id_fk" FOREIGN KEY ("template_id") REFERENCES "postrider"."templates"("id") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "postrider"."templates" ADD CONSTRAINT "templates_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "postrider"."workspaces"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "campaigns_newest" ON "postrider"."campaigns" USING btree ("workspace_id","id");
CREATE INDEX "campaigns_list" ON "postrider"."campaigns" USING btree ("list_id");
CREATE UNIQUE INDEX "contacts_address" ON "postrider"."contacts" USING btree ("workspace_id","folded_address");
CREATE INDEX "contacts_newest" ON "postrider"."contacts" USING btree ("workspace_id","id");
CREATE INDEX "imports_newest" ON "postrider"."imports" USING btree ("workspace_id","id");
CREATE INDEX "list_members_contact" ON "postrider"."list_members" USING btree ("contact_id");
CREATE UNIQUE INDEX "lists_name" ON "postrider"."lists" USING btree ("workspace_id","name");
CREATE UNIQUE INDEX "templates_name" ON "postrider"."templates" USING btree ("workspace_id","name");
CREATE INDEX "templates_newest" ON "postrider"."templates" USING btree ("workspace_id","id");
CREATE INDEX "scheduled_actions_lane_waiting" ON "postrider"."scheduled_actions" USING btree ("lane_id") WHERE wake_at is not null;
CREATE INDEX "scheduled_actions_lane_attention" ON "postrider"."scheduled_actions" USING btree ("lane_id") WHERE needs_attention;
CREATE INDEX "scheduled_actions_lane_unsent" ON "postrider"."scheduled_actions" USING btree ("lane_id") WHERE ended_unsent;
CREATE INDEX "scheduled_actions_contacts" ON "postrider"."scheduled_actions" USING btree ("workspace_id","id") WHERE contact_id is not null;
CREATE INDEX "scheduled_actions_contact" ON "postrider"."scheduled_actions" USING btree ("contact_id","id") WHERE contact_id is not null;
ALTER TABLE "postrider"."scheduled_actions" ADD CONSTRAINT "scheduled_actions_doubt" CHECK (not in_doubt or state not in ('failed', 'canceled', 'skipped', 'expired', 'dismissed'));